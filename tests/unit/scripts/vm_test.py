# SPDX-License-Identifier: MIT
"""Running a guest, as far as it goes without one: QEMU's arguments, init's messages, the verdict."""

import contextlib
import dataclasses
import io
import os
import socket
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from unittest import mock

from stack import architectures, build, console, machine, programs, space, vm, vmrun, vmtests
from stack.console import Failure
from stack.guest import Guest, Kernel

_KERNELS = tuple(Kernel(release, Path('/boot/vmlinuz'), Path('/lib/modules') / release, Path('/build'))
		 for release in ('6.12.94+x', '6.12.107+x', '7.2.12+x'))
_GUEST = Guest('a test', None, ('qemu',), {}, _KERNELS, Path('/bin/busybox'))
_PORTS = {'serial': 3, 'control': 4, 'kernel': 5, 'stdout': 6, 'stderr': 7, 'input': 8}


class KernelChoice(unittest.TestCase):
	def test_the_newest_by_number_not_by_letter(self):
		self.assertEqual(_GUEST.kernel('6.12').release, '6.12.107+x')
		self.assertEqual(_GUEST.kernel().release, '7.2.12+x')

	def test_a_whole_release(self):
		self.assertEqual(_GUEST.kernel('6.12.94+x').release, '6.12.94+x')

	def test_one_that_is_not_there(self):
		"""The argument is wrong, unless it is a kernel that could not be fetched."""
		for series, status in (('5.4', 2), ('9.9', 2), ('nonsense', 2), ('7.3', 1)):
			with self.assertRaisesRegex(Failure, f'^--kernel {series}: .* 6.12, 7.2$') as failed:
				_GUEST.kernel(series)
			self.assertEqual(failed.exception.status, status)

	def test_each_series_once(self):
		self.assertEqual(_GUEST.series(), ['6.12', '7.2'])


class Arguments(unittest.TestCase):
	def arguments(self, sockets=(), **options):
		machine = vm.Machine(_GUEST, vm.Options(logs=Path('/nonexistent'), **options))
		return machine._arguments(Path('/initrd'), sockets, 'tcg', False, _PORTS)

	def test_the_iommu_comes_before_every_other_device(self):
		argv = self.arguments()
		self.assertIn('intel-iommu', argv[argv.index('-device') + 1])
		self.assertIn('intel_iommu=on', argv[argv.index('-append') + 1])

	def test_modes_without_iommu(self):
		for mode, word in (('cma', 'cma=256M'), ('none', None)):
			argv = self.arguments(dma=mode)
			self.assertFalse(any('intel-iommu' in argument for argument in argv))
			self.assertEqual('cma=' in argv[argv.index('-append') + 1], word is not None)

	def test_another_processor_has_an_iommu_of_its_own(self):
		arm64 = dataclasses.replace(_GUEST, architecture=architectures.named('arm64'))
		argv = vm.Machine(arm64, vm.Options(logs=Path('/nonexistent')))._arguments(Path('/initrd'), (), 'tcg', False, _PORTS)
		self.assertEqual(argv[argv.index('-device') + 1], 'virtio-iommu-pci')
		self.assertNotIn('intel_iommu', argv[argv.index('-append') + 1])

	def test_the_device_model_can_map_the_memory(self):
		self.assertTrue(any('memory-backend-memfd' in argument and 'share=on' in argument
				    for argument in self.arguments()))

	def test_a_function_for_each_device_model(self):
		argv = self.arguments(sockets=(Path('/a'), Path('/b')))
		functions = [argument for argument in argv if 'vfio-user-pci' in argument]
		self.assertEqual(len(functions), 2)
		self.assertIn('"/a"', functions[0])
		self.assertIn('"/b"', functions[1])

	def test_folders_with_a_comma(self):
		with tempfile.TemporaryDirectory(suffix=',x') as folder:
			argv = self.arguments(share=Path(folder))
		shared = next(argument for argument in argv if argument.startswith('local,'))
		self.assertIn(folder.replace(',', ',,'), shared)
		self.assertNotIn('readonly', shared)

	def test_gdb_does_not_stop_the_boot(self):
		"""The driver waits, and for that has an input: not QEMU."""
		argv = self.arguments(gdb=1236)
		self.assertIn('tcp:127.0.0.1:1236', argv)
		self.assertNotIn('-S', argv)
		self.assertIn('nokaslr', argv[argv.index('-append') + 1])
		self.assertTrue(any(argument.endswith('name=nvdla.input') for argument in argv))
		self.assertFalse(any('nvdla.input' in argument for argument in self.arguments()))

	def test_a_folder_of_the_guest_cannot_be_covered(self):
		with self.assertRaisesRegex(Failure, '/usr cannot be shared') as failed:
			self.arguments(share=Path('/usr'))
		self.assertEqual(failed.exception.status, 2)


class Folders(unittest.TestCase):
	def test_that_are_not_there(self):
		"""Refused at once, and not made."""
		with tempfile.TemporaryDirectory() as folder:
			for option in ('--share', '--mount'):
				missing = Path(folder, 'none')
				with (unittest.mock.patch('sys.argv', ['vm', option, str(missing), '--', 'true']),
				      self.assertRaisesRegex(Failure, f'{option} .*: there is no such folder') as failed):
					vmrun.main()
				self.assertEqual(failed.exception.status, 2)
				self.assertFalse(missing.exists())


class Variants(unittest.TestCase):
	def test_those_of_the_device_model(self):
		self.assertEqual(machine.variants()[0], 'nv_full')
		self.assertIn('nv_small', machine.variants())

	def test_another_is_refused_at_once(self):
		with (unittest.mock.patch('sys.argv', ['vm', '--variant', 'nvsmall', '--', 'ls']),
		      self.assertRaisesRegex(Failure, '--variant nvsmall: it can be nv_full, nv_large, nv_small, ') as failed):
			vmrun.main()
		self.assertEqual(failed.exception.status, 2)


class Plan(unittest.TestCase):
	def modes(self, *series, test='uapi'):
		"""{kernel: the modes that see @test}."""
		boots = vmtests.plan(series, lambda name: name.endswith(f'.{test}'))
		return {kernel: [mode for boot, mode in boots if boot == kernel] for kernel in series}

	def test_the_newest_sees_every_mode_others_one(self):
		self.assertEqual(self.modes('6.12', '7.2', '7.3', 'debug'), {
			'6.12': ['iommu'], '7.2': ['iommu'], '7.3': ['iommu'], 'debug': ['iommu']})
		self.assertEqual(self.modes('6.12', '7.2', '7.3', 'debug', test='platform'), {
			'6.12': ['none'], '7.2': [], '7.3': ['cma', 'none'], 'debug': ['none']})

	def test_only_the_newest_sees_what_is_the_runtimes(self):
		self.assertEqual(self.modes('6.12', '7.3', 'debug', test='async'),
				 {'6.12': [], '7.3': ['iommu'], 'debug': []})

	def test_those_between_see_what_is_for_each(self):
		self.assertEqual(self.modes('6.12', '7.2', '7.3', test='stress'),
				 {'6.12': ['iommu'], '7.2': [], '7.3': ['iommu']})
		self.assertEqual(self.modes('6.12', '7.3', test='stress'), {'6.12': ['iommu'], '7.3': ['iommu']})

	def test_programs_of_32_bits_are_of_another_build(self):
		def narrow(name):
			return [test for test in vmtests.tests(architectures.named(name)) if test.narrow]

		self.assertEqual([test.narrow for test in narrow('amd64')], ['i386'])
		self.assertEqual(narrow('riscv64'), [])
		test, = narrow('arm64')
		self.assertEqual(test.program, programs.folder(architectures.named('armhf')) / 'tests/uapi/uapi-test')
		self.assertEqual(test.programs(), [])
		with unittest.mock.patch.object(vmtests.guest_tree, 'cross_path', return_value=Path('/nonexistent')):
			self.assertEqual(test.missing(), 'there is no tree for armhf')

	def test_the_debug_kernel_has_lines_of_its_own(self):
		arguments = {kernel: test.arguments for (kernel, _), wanted in vmtests.plan(
			['7.3', 'debug'], lambda name: name.endswith('.stress')).items() for test in wanted}
		self.assertEqual(arguments, {'7.3': (), 'debug': ('--submits=100',)})

	def test_a_kernel_that_is_asked_for_sees_everything(self):
		self.assertEqual(self.modes('7.2', test='platform'), {'7.2': ['cma', 'none']})
		self.assertEqual(self.modes('7.2', test='async'), {'7.2': ['iommu']})

	def test_the_debug_kernel_alone(self):
		self.assertEqual(self.modes('debug'), {'debug': ['iommu']})


class Progress(unittest.TestCase):
	"""Nothing is silent for long."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)

	def test_lines_of_the_guest_have_the_time(self):
		with unittest.mock.patch('sys.stderr', io.StringIO()) as said:
			vmrun._say_progress('making the image')
		self.assertRegex(said.getvalue(), r'^\[ *\d+\.\d s\] guest: making the image\n$')

	def test_which_test_runs_in_the_guest(self):
		wanted = [test for test in vmtests.tests() if test.name in ('smoke', 'async')]
		self.assertEqual(vmtests.how_far(wanted, self.folder), '0 of 2 tests have ended')
		(self.folder / f'{wanted[0].name}.log').touch()
		self.assertEqual(vmtests.how_far(wanted, self.folder), f'0 of 2 tests have ended, now {wanted[0].name}')
		(self.folder / f'{wanted[0].name}.status').touch()
		self.assertEqual(vmtests.how_far(wanted, self.folder), '1 of 2 tests have ended')

	def test_a_guest_that_is_up_tells_of_its_command(self):
		told = []
		guest = vm.Machine(_GUEST, vm.Options(logs=self.folder), progress=told.append, working=lambda: 'now smoke')
		(self.folder / 'console').write_text('a line\nthe last\n')
		control = vm._Control()
		guest._say_how_far(control, self.folder / 'console', 0)
		control.feed(b'ready 1.5\n')
		guest._say_how_far(control, self.folder / 'console', 0)
		self.assertRegex(told[0], 'booting for .*: the last')
		self.assertEqual(told[1:], ['now smoke'])

	def test_a_line_of_the_console_is_told_once(self):
		"""One that came again and again looked like the reason why the guest was slow."""
		told = []
		guest = vm.Machine(_GUEST, vm.Options(logs=self.folder), progress=told.append)
		for second, text in ((100, ''), (105, 'a line\n'), (110, 'a line\n'), (140, 'a line\n'), (145, 'a line\nnext\n')):
			(self.folder / 'console').write_text(text)
			with unittest.mock.patch.object(vm.time, 'monotonic', return_value=second):
				guest._say_how_far(vm._Control(), self.folder / 'console', 95)
		self.assertEqual(told, ['booting for 5 s', 'booting for 10 s: a line', 'booting for 15 s',
					'booting for 45 s; no new line on its console for 35 s', 'booting for 50 s: next'])

	def test_a_usual_warning_is_no_progress(self):
		"""A line that every boot has looks like an error."""
		log, usual = self.folder / 'console', ('[    0.88] mtrr: your CPUs had inconsistent MTRRdefType settings\n'
						       '[    1.31] ACPI: IRQ 4 override to edge(!), high(!)\n')
		log.write_text(usual)
		self.assertEqual(machine.last_message(log), '')
		log.write_text(f'[    0.05] the first\n{usual}')
		self.assertEqual(machine.last_message(log), '[    0.05] the first')

	def test_compiling(self):
		log = self.folder / 'log'
		log.write_text('[1/80] Generating registers\n[20/80] Compiling C++ object a.cpp.o\na.cpp:1: warning: [9/9]\n')
		words = ['c++', '-c', 'b.cpp', '-o', 'b.cpp.o']
		for seconds, end in ((4, ''), (40.2, ', 40 s on b.cpp')):
			with unittest.mock.patch.object(build.processes, 'children', return_value=[(seconds, words), (1, ['true'])]):
				self.assertEqual(build.steps_done(1, log), f'20 of 80 steps done (25 %){end}')
		log.write_text('ninja: Entering directory\n')
		with unittest.mock.patch.object(build.processes, 'children', return_value=[]):
			self.assertEqual(build.steps_done(1, log), '')


class Programs(unittest.TestCase):
	"""What scripts/vm builds for a command."""

	_ALL = ['firmware-sim/tools/nvdla-sim', 'umd/tools/nvdla-run', 'umd/tools/nvdla-top', 'umd/examples/nvdla-edges']

	def test_named_by_the_command(self):
		with tempfile.TemporaryDirectory() as folder:
			Path(folder, 'test.sh').write_text('nvdla-edges >x; ./nvdla-prof-of-mine\n')
			programs = ['nvdla-run', 'nvdla-top', 'nvdla-prof', 'nvdla-edges']
			for command, names in ((['nvdla-run', 'x'], ['nvdla-run']), (['sh', '-c', 'true&&nvdla-top --once'], ['nvdla-top']),
					       (['sh', 'test.sh'], ['nvdla-edges']), (['dmesg'], []), ([], programs)):
				named = vmrun.named_in(command, Path(folder))
				self.assertEqual([name for name in programs if named(name)], names)

	def test_one_that_is_there_is_built_again(self):
		with tempfile.TemporaryDirectory() as folder:
			there = Path(folder, 'umd/tools/nvdla-top')
			there.parent.mkdir(parents=True)
			there.touch()
			with (unittest.mock.patch.object(build, 'build_dir', return_value=Path(folder)),
			      unittest.mock.patch.object(build, 'configure_anew'), unittest.mock.patch.object(build, 'build') as built,
			      unittest.mock.patch.object(build, 'programs', return_value=self._ALL)):
				build.build_programs(print, lambda name: name == 'nvdla-sim')
		self.assertEqual(built.call_args.args[1], ['firmware-sim/tools/nvdla-sim', 'umd/tools/nvdla-top'])


class CommandsProgram(unittest.TestCase):
	"""One that the guest would not have is named before anything is built or booted."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.share = Path(folder.name)
		(self.share / 'mine').touch()
		built = self.share / 'build'
		(built / 'umd/tools').mkdir(parents=True)
		(built / 'umd/tools/nvdla-top').touch(0o755)
		busybox = self.share / 'busybox'
		busybox.write_text('#!/bin/sh\nprintf "ls\\ndmesg\\n"\n')
		busybox.chmod(0o755)
		self.guest = dataclasses.replace(_GUEST, busybox=busybox)
		for name, value in (('build_dir', built), ('_guest_tests', {'uapi-test': None})):
			patch = unittest.mock.patch.object(vmrun, name, return_value=value)
			patch.start()
			self.addCleanup(patch.stop)
		patch = unittest.mock.patch.object(build, 'configure_anew')
		self.configured = patch.start()
		self.addCleanup(patch.stop)

	def check(self, word, is_built=True, guest=None):
		with unittest.mock.patch.object(build, 'programs', return_value=['umd/tools/nvdla-run', 'firmware-sim/tools/nvdla-sim']):
			vmrun.check_program(guest or self.guest, word, [self.share, Path('/nowhere')], is_built)

	def refusal(self, word, **how):
		with self.assertRaises(Failure) as failed:
			self.check(word, **how)
		self.assertEqual(failed.exception.status, 127)
		return str(failed.exception)

	def test_that_the_guest_has(self):
		for word in ('ls', 'busybox', 'nvdla-top', 'uapi-test'):
			self.check(word)
		self.configured.assert_not_called()
		self.check('nvdla-run')

	def test_that_it_has_not(self):
		self.assertIn('has no program nvdla-rum; did you mean nvdla-run', self.refusal('nvdla-rum'))
		self.assertIn('has no program dmseg; did you mean dmesg?', self.refusal('dmseg'))
		self.assertIn('only those of busybox', self.refusal('zzzzzz'))
		self.assertIn('has no program nvdla-sim', self.refusal('nvdla-sim'))
		self.assertIn('has no program nvdla-run', self.refusal('nvdla-run', is_built=False))

	def test_by_its_path(self):
		for word in ('./mine', f'{self.share}/mine', '/bin/ls', '../elsewhere'):
			self.check(word)
		for word in ('./yours', f'{self.share}/yours', '/nowhere/x'):
			self.assertIn('is not there', self.refusal(word))

	def test_of_another_processor(self):
		arm64 = dataclasses.replace(self.guest, architecture=architectures.named('arm64'))
		self.check('anything', guest=arm64)


class Control(unittest.TestCase):
	def test_messages_in_pieces(self):
		control = vm._Control()
		for byte in b'ready 1.5\nproblem a b\nexit 3\ntainted 4096\nend\n':
			control.feed(bytes([byte]))
		self.assertEqual((control.exit, control.tainted, control.ended), (3, 4096, True))
		self.assertEqual(control.problems, ['a b'])
		self.assertIsNotNone(control.ready_at)


	def test_sections_of_the_driver_come_before_the_wait(self):
		told = []
		control = vm._Control(when_waiting=told.append)
		control.feed(b'init\nsection .text 0xffffffffc0486000\nsection .data 0xffffffffc035de00\n')
		self.assertEqual(told, [])
		control.feed(b'debugger\n')
		self.assertEqual(told, [{'.text': '0xffffffffc0486000', '.data': '0xffffffffc035de00'}])


class OrdinaryUser(unittest.TestCase):
	def test_is_the_owner_of_the_shared_folder_unless_that_is_root(self):
		with tempfile.TemporaryDirectory() as folder:
			machine = vm.Machine(_GUEST, vm.Options(share=Path(folder)))
			for owner, number in ((0, 1000), (1234, 1234)):
				with unittest.mock.patch.object(Path, 'stat', lambda path: os.stat_result((0, 0, 0, 0, owner, 0, 0, 0, 0, 0))):
					self.assertEqual(machine._user_id(), number)
		self.assertEqual(vm.Machine(_GUEST, vm.Options())._user_id(), 1000)


class Verdict(unittest.TestCase):
	def judge(self, messages, kernel='', stopped=None, **options):
		control = vm._Control()
		control.feed(messages)
		with tempfile.TemporaryDirectory() as folder:
			kernel_log, qemu_log = Path(folder, 'kernel'), Path(folder, 'qemu')
			kernel_log.write_text(kernel)
			qemu_log.write_text('')
			machine = vm.Machine(_GUEST, vm.Options(timeout=5, **options))
			return machine._judge(control, kernel_log, qemu_log, stopped, 0)

	def test_the_status_of_the_command(self):
		self.assertEqual(self.judge(b'exit 0\ntainted 12288\nend\n').status, 0)
		self.assertEqual(self.judge(b'exit 7\ntainted 0\nend\n').status, 7)

	def test_a_complaint_of_the_kernel_spoils_success_only(self):
		splat = '[ 1.0] WARNING: CPU: 0 PID: 1 at x.c:1\n'
		self.assertEqual(self.judge(b'exit 0\ntainted 0\nend\n', splat).status, vm.STATUS_KERNEL)
		self.assertEqual(self.judge(b'exit 7\ntainted 0\nend\n', splat).status, 7)

	def test_taint_and_unload_problems_are_noticed(self):
		self.assertEqual(self.judge(b'exit 0\ntainted 512\nend\n').status, vm.STATUS_KERNEL)
		self.assertEqual(self.judge(b'exit 0\nproblem busy\ntainted 0\nend\n').status, vm.STATUS_KERNEL)

	def test_a_guest_that_never_said_how_it_went(self):
		self.assertEqual(self.judge(b'ready 1\n').status, vm.STATUS_BROKEN)
		self.assertEqual(self.judge(b'failure no\nend\n').status, vm.STATUS_BROKEN)
		self.assertEqual(self.judge(b'ready 1\n', stopped='time').status, vm.STATUS_TIMEOUT)

	def test_the_end_of_the_time_names_the_option_and_how_far_the_guest_was(self):
		for messages, how_far in ((b'', 'before the command had begun; the time includes the boot'), (b'init\n', 'before the command had begun; the time includes the boot'),
					  (b'init\nready 1\n', 'while the command ran'), (b'init\nready 1\nexit 0\n', 'after the command had ended')):
			with self.subTest(messages):
				asked = self.judge(messages, stopped='time', is_exact=True).problems[0]
				self.assertRegex(asked, f'^--timeout 5: the guest was stopped after \\d+ s, {how_far}$')
				self.assertRegex(self.judge(messages, stopped='time').problems[0], f'^the guest was stopped after \\d+ s, {how_far}$')
		hung = self.judge(b'init\nready 1\n', stopped='hung', is_exact=True).problems[0]
		self.assertNotIn('--timeout', hung)

	def test_a_kernel_that_fails_before_init_may_try_again(self):
		splat = '[ 0.1] BUG: KASAN: wild-memory-access in x\n'
		early = self.judge(b'', splat, stopped='hung')
		self.assertTrue(early.stillborn)
		self.assertEqual(early.status, vm.STATUS_BROKEN)
		self.assertFalse(self.judge(b'init\n', splat).stillborn)
		self.assertFalse(self.judge(b'').stillborn)

	def test_a_kernel_that_never_gets_to_init_may_try_again(self):
		self.assertTrue(self.judge(b'', stopped='hung').stillborn)
		self.assertFalse(self.judge(b'init\n', stopped='hung').stillborn)

	def test_the_users_time_is_over_before_init(self):
		early = self.judge(b'', stopped='time')
		self.assertFalse(early.stillborn)
		self.assertEqual(early.status, vm.STATUS_TIMEOUT)


class Kvm(unittest.TestCase):
	def refusal(self, exists, may_open):
		with (mock.patch('sys.argv', ['vm', '--kvm', '--', 'true']), mock.patch('os.path.exists', return_value=exists),
		      mock.patch('os.access', return_value=may_open), mock.patch.object(vmtests, 'guest_for', side_effect=AssertionError),
		      self.assertRaises(Failure) as failed):
			vmrun.main()
		return str(failed.exception)

	def test_a_missing_device_is_told_before_anything_is_made(self):
		self.assertRegex(self.refusal(False, False), '^--kvm: /dev/kvm is missing, .* leave --kvm out')

	def test_nor_one_that_belongs_to_others(self):
		self.assertRegex(self.refusal(True, False), '^--kvm: /dev/kvm cannot be opened: join the group kvm')

	def test_the_trial_is_told_once(self):
		told = []
		with (tempfile.TemporaryDirectory() as folder, mock.patch.object(vm, 'cache_dir', return_value=Path(folder)),
		      mock.patch('stack.guest_tree.cache_dir', return_value=Path(folder)), mock.patch('os.access', return_value=True),
		      mock.patch.object(vm, '_boots_under_kvm', return_value=False)):
			for _ in range(2):
				self.assertFalse(vm.kvm_works(_GUEST, _GUEST.kernel(), told.append))
			self.assertEqual(told, ['trying KVM (once after each boot of this machine)'])
			with self.assertRaisesRegex(Failure, 'a guest started with it did not boot'):
				vm.require_kvm(_GUEST, _GUEST.kernel(), told.append)


class DoesNotCompile(unittest.TestCase):
	def test_git_bisect_passes_over_it(self):
		"""Neither the status of a COMMAND that failed nor that of a guest that cannot be started."""
		for part, failure in ((build, build.DoesNotCompile('a')), (vmrun.kmod, vmrun.kmod.DoesNotBuild('a', 'b', Path('c'))),
				      (build, space.Full('a full disk')), (build, Failure('no compiler'))):
			with (self.subTest(failure), mock.patch('sys.argv', ['vm', '--', 'true']), mock.patch.object(vmtests, 'guest_for', return_value=_GUEST),
			      mock.patch.object(vmrun, 'check_program'), mock.patch.object(build, 'build_programs'), mock.patch.object(vmrun, 'guest_programs', return_value={}),
			      mock.patch.object(machine, 'model_program'), mock.patch.object(console, 'stdout_is_the_commands', False),
			      mock.patch.object(part, 'build_programs' if part is build else 'choose', side_effect=failure),
			      contextlib.redirect_stderr(io.StringIO()), self.assertRaises(Failure) as failed):
				vmrun.main()
			self.assertEqual(failed.exception.status, 125 if isinstance(failure, (build.DoesNotCompile, space.Full)) else 1)


class Listening(unittest.TestCase):
	def test_it_is_seen_without_connecting(self):
		with tempfile.TemporaryDirectory() as folder:
			path = Path(folder, 'socket')
			with socket.socket(socket.AF_UNIX) as server:
				server.bind(str(path))
				self.assertFalse(machine.listens(path))
				server.listen()
				self.assertTrue(machine.listens(path))


if __name__ == '__main__':
	unittest.main()
