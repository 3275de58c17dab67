/* Put before libc: fails the calls that reach the disk while a file of that name is in $FAULTS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int failing(const char *fault) {
    const char *directory = getenv("FAULTS");
    char path[4096];
    if (!directory) return 0;
    snprintf(path, sizeof path, "%s/%s", directory, fault);
    return access(path, F_OK) == 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(fault, error) if (failing(fault)) { errno = error; return -1; }

int fsync(int fd) { FAIL("sync", EIO) return REAL(fsync)(fd); }
int fdatasync(int fd) { FAIL("sync", EIO) return REAL(fdatasync)(fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fd > 2) FAIL("space", ENOSPC)
    return REAL(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    FAIL("space", ENOSPC)
    return REAL(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    FAIL("space", ENOSPC)
    return REAL(pwrite64)(fd, bytes, count, at);
}
