"""Which of the kernel's calls a sandbox may make, by name; numbers where a filter of our own needs them.

Closed is what leads out of namespaces or into new ones, what configures the machine, what programs or traces the
kernel, and keys, which no namespace holds apart. What a newer kernel adds is closed until it is listed here.
"""

from __future__ import annotations

CLOSED = """
acct 163 89              add_key 248 217          bpf 321 280              clock_adjtime 305 266
clock_settime 227 112    delete_module 176 106    fanotify_init 300 262    finit_module 313 273
fsconfig 431 431         fsmount 432 432          fsopen 430 430           fspick 433 433
get_mempolicy 239 236    init_module 175 105      ioperm 173 -             iopl 172 -
kexec_file_load 320 294  kexec_load 246 104       keyctl 250 219           lookup_dcookie 212 18
mbind 237 235            migrate_pages 256 238    mount 165 40             mount_setattr 442 442
move_mount 429 429       move_pages 279 239       name_to_handle_at 303 264  nfsservctl 180 42
open_by_handle_at 304 265  open_tree 428 428      perf_event_open 298 241  pidfd_getfd 438 438
pivot_root 155 41        process_madvise 440 440  quotactl 179 60          quotactl_fd 443 443
reboot 169 142           request_key 249 218      set_mempolicy 238 237    set_mempolicy_home_node 450 450
setdomainname 171 162    sethostname 170 161      setns 308 268            settimeofday 164 170
swapoff 168 225          swapon 167 224           sysfs 139 -              syslog 103 116
umount2 166 39           unshare 272 97           uselib 134 -             userfaultfd 323 282
ustat 136 -              vhangup 153 58
"""
"""Names, then numbers on x86_64 and aarch64."""
ABSENT = "clone3 435 435  io_uring_enter 426 426  io_uring_register 427 427  io_uring_setup 425 425"
"""Calls that are not there at all, for programs then do without: `clone3` hides its flags in memory, where no filter
looks; what `io_uring` does passes every filter."""
ASKED = (
    "clone 56 220  personality 135 92  prlimit64 302 261  sched_setaffinity 203 122  sched_setattr 314 274 "
    "sched_setparam 142 118  sched_setscheduler 144 119  setpriority 141 140  socket 41 198  socketpair 53 199"
)
"""Calls whose arguments decide."""
NEWEST = 452
"""Highest number that is known here, the same everywhere (`fchmodat2`)."""

FAMILIES = (1, 2, 10, 16)
"""Kinds of sockets: Unix, IP, IPv6, netlink. Others (virtual machines' 40 first) do not stay in a network namespace."""
NEW_NAMESPACES = 0x7E020000
"""Flags of `clone`."""
PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
"""Plain Linux, 32 bit or not, an old version number or not, and the question which it is."""
OTHERS_LIMITS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
"""Calls with a process first: process 1, which reports for the sandbox, is nobody's to limit or to slow."""

ALLOWED = """
_llseek _newselect accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown
chown32 chroot clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64
close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old
epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2
fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64
fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync
ftruncate ftruncate64 futex futex_time64 futex_waitv futimesat get_robust_list get_thread_area getcpu getcwd getdents
getdents64 getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getitimer getpeername getpgid
getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32 getrlimit getrusage getsid
getsockname getsockopt gettid gettimeofday getuid getuid32 getxattr inotify_add_watch inotify_init inotify_init1
inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioctl
ioprio_get ioprio_set ipc kcmp kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lchown32
lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat lstat64 madvise membarrier
memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mmap2 modify_ldt mprotect
mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink mremap
msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newfstatat nice open openat openat2 pause
pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 prctl pread64 preadv
preadv2 process_mrelease process_vm_readv process_vm_writev pselect6 pselect6_time64 ptrace pwrite64 pwritev pwritev2
read readahead readlink readlinkat readv recv recvfrom recvmmsg recvmmsg_time64 recvmsg remap_file_pages removexattr
rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
sched_rr_get_interval_time64 sched_yield seccomp select semctl semget semop semtimedop semtimedop_time64 send sendfile
sendfile64 sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid setfsgid32 setfsuid
setfsuid32 setgid setgid32 setgroups setgroups32 setitimer setpgid setregid setregid32 setresgid setresgid32 setresuid
setresuid32 setreuid setreuid32 setrlimit setsid setsockopt setuid setuid32 setxattr shmat shmctl shmdt shmget shutdown
sigaction sigaltstack signal signalfd signalfd4 sigpending sigprocmask sigreturn sigsuspend splice stat stat64 statfs
statfs64 statx symlink symlinkat sync sync_file_range sync_file_range2 syncfs sysinfo tee tgkill time timer_create
timer_delete timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime
timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill truncate truncate64 ugetrlimit umask uname unlink
unlinkat utime utimensat utimensat_time64 utimes vfork vmsplice wait4 waitid waitpid write writev
"""
"""Calls that anything may make. Their 32 bit forms are among them, but for `socketcall`, which hides its arguments."""


def numbers(table: str, column: int) -> dict[str, int]:
    """Numbers by name: column 0 for x86_64, 1 for aarch64."""
    words = table.split()
    rows = zip(words[::3], words[1::3], words[2::3], strict=True)
    return {row[0]: int(row[1 + column]) for row in rows if row[1 + column] != "-"}
