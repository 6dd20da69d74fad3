# SPDX-License-Identifier: MIT
"""The Debian archive: the mirror that this machine uses, and runs of apt that know only given
suites and do not change the machine's own packages or lists.
"""

import contextlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import processes
from .architectures import AMD64
from .console import Failure

_KEYRING = Path('/usr/share/keyrings/debian-archive-keyring.gpg')


def mirror():
	"""Return the URL of the Debian mirror that this machine's own apt uses, or None."""
	with contextlib.suppress(OSError, subprocess.SubprocessError):
		listed = subprocess.run(
			['apt-get', 'indextargets', '--format', '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)',
			 'Created-By: Packages'], capture_output=True, text=True, timeout=30).stdout
		for line in listed.splitlines():
			origin, label, component, uri = line.split('|', 3)
			if (origin, label, component) == ('Debian', 'Debian', 'main'):
				return uri.rstrip('/')
	return None


def apt_options():
	"""Return this machine's apt settings for downloads: proxies, retries, and whether the dates of a mirror's files
	are checked."""
	with contextlib.suppress(OSError, subprocess.SubprocessError):
		dump = subprocess.run(['apt-config', 'dump'], capture_output=True, text=True, timeout=30).stdout
		wanted = re.compile(r'(Acquire::(?:(?:http|https)(?:::\S+)?|Check-Valid-Until|Check-Date|Retries) "[^"]+");')
		return [match.group(1) for match in map(wanted.match, dump.splitlines()) if match]
	return []


def code_name(suite):
	"""Return the code name ("forky") of @suite ("testing"), or @suite if the mirror has no copy under the code
	name. Some mirrors update the copies under the two names on different days."""
	with contextlib.suppress(OSError, subprocess.SubprocessError), tempfile.TemporaryDirectory() as folder:
		found = re.search(r'^Codename: (\S+)$', _release(suite, Path(folder)), re.MULTILINE)
		if found and _release(found[1], Path(folder)):
			return found[1]
	return suite


def _release(suite, folder):
	"""Return the text of the mirror's InRelease file for @suite, or ''."""
	file = folder / suite
	subprocess.run(['/usr/lib/apt/apt-helper', 'download-file', f'{mirror()}/dists/{suite}/InRelease', file],
		       capture_output=True, timeout=60)
	return file.read_text(errors='replace') if file.is_file() else ''


def explain(log, space):
	"""Return a sentence for the user that says why apt or mmdebstrap failed, found in its @log. @space: the folder
	whose disk may be full."""
	text = log.read_text(errors='replace')
	if re.search(r'Temporary failure resolving|Could not (?:resolve|connect)|Unable to connect|'
		     r'Network is unreachable|Connection (?:failed|timed out|refused)', text):
		return 'the Debian mirror cannot be reached: check the network (or the proxy in apt\'s configuration)'
	expired = re.search(r'^E: (.* is expired .*?)(?:\. Updates|$)', text, re.MULTILINE)
	if expired:
		return (f'{expired[1]}: name another mirror in apt\'s configuration, or allow an old one: echo '
			'\'Acquire::Check-Valid-Until "false";\' >/etc/apt/apt.conf.d/old-mirror')
	if 'No space left' in text:
		return f'no space left: free some in {space} (or set XDG_CACHE_HOME) and in /tmp'
	if re.search(r'NO_PUBKEY|not signed', text):
		return 'the keys of Debian 13 are missing: apt-get install --only-upgrade debian-archive-keyring'
	reasons = re.findall(r'^E: (.*)', text, re.MULTILINE)
	return reasons[0] if reasons else f'{log.name} tells no reason'


@contextlib.contextmanager
def needed_for(what):
	"""If the body of the with statement, which fetches @what, raises a Failure, put @what before its message."""
	try:
		yield
	except Failure as failure:
		raise Failure(f'{what} cannot be fetched: {failure}', failure.status) from None


class Archive:
	"""The packages in the main component of some suites; update() has to be called first.

	The packages are for amd64, or for @architecture if amd64 lacks them.
	"""

	def __init__(self, folder, suites, architecture=AMD64):
		self._flavour = architecture.flavour
		self._log = folder / 'apt.log'
		self._environment = dict(os.environ, APT_CONFIG=str(folder / 'apt.conf'))
		for name in ('etc', 'lists/partial', 'cache/archives/partial'):
			(folder / name).mkdir(parents=True)
		(folder / 'status').touch()
		settings = {'Dir::Etc': folder / 'etc', 'Dir::State': folder, 'Dir::State::status': folder / 'status',
			    'Dir::Cache': folder / 'cache', 'APT::Architecture': 'amd64', 'APT::Sandbox::User': 'root',
			    'Acquire::Languages': 'none'}
		lines = [f'{name} "{value}";' for name, value in settings.items()]
		lines.append(f'APT::Architectures {{"amd64"; "{architecture.name}";}};')
		lines += [f'{option};' for option in apt_options()]
		(folder / 'apt.conf').write_text('\n'.join(lines) + '\n')
		source = mirror()
		if not source:
			raise Failure('the apt of this machine names no mirror of Debian: add one to /etc/apt/sources.list')
		trust = f'[signed-by={_KEYRING}] ' if _KEYRING.is_file() else ''
		self._sources = folder / 'etc/sources.list'
		self._sources.write_text(''.join(
			f'deb {trust}{source} {suite} main\n' for suite in suites))

	def update(self, progress):
		"""Fetch the lists of packages; raises Failure if a suite cannot be fetched."""
		if processes.run_logged(['apt-get', '--error-on=any', 'update'], self._log, progress,
					env=self._environment) != 0:
			raise Failure(explain(self._log, self._log.parent))

	@property
	def flavour(self):
		"""The suffix of the releases of Debian's ordinary kernels; variants, such as cloud, have longer ones."""
		return self._flavour

	def names(self, prefix):
		"""The names of all packages that begin with @prefix."""
		said = subprocess.run(['apt-cache', 'pkgnames', prefix], capture_output=True, text=True,
				      env=self._environment, check=True)
		return set(said.stdout.split())

	def download(self, names, folder, progress):
		"""Put the packages @names, in their newest version, into @folder as files; returns their paths."""
		if processes.run_logged(['apt-get', 'download', *sorted(names)], self._log, progress, cwd=folder,
					env=self._environment) != 0:
			raise Failure(explain(self._log, folder))
		return sorted(folder.glob('*.deb'))

	def download_source(self, name, folder, progress):
		"""Put the files of the source package @name, in its newest version, into @folder."""
		listed = self._sources.read_text()
		self._sources.write_text(listed + listed.replace('deb ', 'deb-src '))
		self.update(progress)
		if processes.run_logged(['apt-get', 'source', '--download-only', name], self._log, progress, cwd=folder,
					env=self._environment) != 0:
			raise Failure(explain(self._log, folder))


@contextlib.contextmanager
def opened(suites, progress, architecture=AMD64):
	"""An up-to-date Archive of @suites; its files are deleted afterwards."""
	with tempfile.TemporaryDirectory(prefix='nvdla-archive-') as folder:
		archive = Archive(Path(folder), suites, architecture)
		archive.update(progress)
		yield archive


def headers(archive):
	"""Return the releases of the kernels whose headers are in @archive, oldest first; variants such as cloud
	kernels are left out."""
	found = (re.fullmatch(rf'linux-headers-(\d[^-]*-{archive.flavour})', name) for name in archive.names('linux-headers-'))
	return sorted((match.group(1) for match in found if match), key=_order)


def kernels(archive):
	"""Return those releases of headers() whose kernel image is in @archive, too, so that the kernel can be
	booted."""
	images = archive.names('linux-image-')
	return [release for release in headers(archive) if f'linux-image-{release}' in images]


def parts_of(archive, release):
	"""Return the names of the packages of the kernel @release and its headers; newer kernels consist of more
	packages."""
	base = release.removesuffix(f'-{archive.flavour}')
	parts = {f'linux-{part}-{release}' for part in ('base', 'binary', 'headers', 'image', 'modules')}
	return archive.names('linux-') & (parts | {f'linux-headers-{base}-common', f'linux-kbuild-{base}'})


def _order(release):
	return [int(part) for part in re.findall(r'\d+', release)]
