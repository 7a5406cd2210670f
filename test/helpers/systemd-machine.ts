/**
 * A machine whose process 1 is systemd: the root of this one below an overlay, in namespaces of its own, where nothing but
 * loopback is reached.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

/**
 * Becomes process 1 of the machine that lies in `$1`; `$2` is /mnt there. Its root is pivoted to and shared: below a chroot
 * systemd could give a unit neither a namespace of users nor credentials.
 */
const BOOT = `
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount --bind "$2" mnt
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for each in run dev tmp; do mount -t tmpfs -o mode=755 tmpfs "$each"; done
chmod 1777 tmp
for each in null zero full random urandom tty; do touch "dev/$each"; mount --bind "/dev/$each" "dev/$each"; done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
rm -f etc/systemd/system/*.wants/*
: > etc/fstab
for each in systemd-udevd systemd-udev-trigger systemd-sysctl systemd-modules-load systemd-remount-fs systemd-logind; do
  ln -sf /dev/null "etc/systemd/system/$each.service"
done
ip link set lo up
pivot_root . media
cd /
umount -l media
mount --make-rshared /
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=poterne-test /lib/systemd/systemd --unit=multi-user.target
`

export type SystemdMachine = Awaited<ReturnType<typeof bootMachine>>

/** `shared` is /mnt there. */
export async function bootMachine(shared: string) {
  const said = join(newDirectory('boot'), 'said')
  const outer = Bun.spawn(
    [
      ...['unshare', '--fork', '--kill-child', '--pid', '--mount', '--cgroup', '--ipc', '--uts', '--net'],
      ...['bash', '-euc', BOOT, 'boot', newDirectory('machine'), shared],
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: Bun.file(said) },
  )
  const end = async () => {
    outer.kill('SIGKILL')
    await outer.exited
  }
  const first = () => readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim()

  /** Runs lines of root's shell there; the first that fails is the last. */
  async function run(lines: string) {
    const shell = Bun.spawn(
      [
        ...['nsenter', '-t', first(), '-m', '-p', '-C', '-i', '-u', '-n', '-r', '-w'],
        ...['env', '-i', 'HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
        ...['bash', '-ec', `cd /root\n${lines}`],
      ],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const [out, error] = await Promise.all([
      new Response(shell.stdout).text(),
      new Response(shell.stderr).text(),
    ])
    return { code: await shell.exited, out, error }
  }

  // Before that it may be the systemd of this machine that answers.
  const isUp = 'grep -q container=poterne-test /proc/1/environ; systemctl is-active multi-user.target'
  try {
    await waitFor(async () => (await run(isUp)).code === 0, {
      ...{ what: 'systemd', timeoutMs: 60_000, intervalMs: 500 },
    })
  } catch (error) {
    await end()
    throw new Error(`systemd did not start: ${readFileSync(said, 'utf8')}`, { cause: error })
  }
  return { run, end }
}
