/* Overrides functions of libc. Disk calls fail, stall or are recorded while $FAULTS contains a file of that name. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Appends a line to $FAULTS/journal. */
static void record(const char *what, const char *one, const char *other) {
    char line[12288], path[4096];
    int error = errno;
    if (failing("record")) {
        snprintf(path, sizeof path, "%s/journal", getenv("FAULTS"));
        int journal = REAL(open64)(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
        int length = snprintf(line, sizeof line, "%s %s%s%s\n", what, one, other ? " " : "", other ? other : "");
        if (journal >= 0) {
            if (REAL(write)(journal, line, length) != length) abort();
            close(journal);
        }
    }
    errno = error;
}

static void stall_and_record(int fd) {
    char link[64], path[4096];
    while (failing("stall")) usleep(1000);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    record("sync", path, NULL);
}

int fsync(int fd) { FAIL("sync", EIO) stall_and_record(fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { FAIL("sync", EIO) stall_and_record(fd); return REAL(fdatasync)(fd); }

int rename(const char *from, const char *to) {
    int result = REAL(rename)(from, to);
    if (result == 0) record("rename", from, to);
    return result;
}
int mkdir(const char *path, mode_t mode) {
    int result = REAL(mkdir)(path, mode);
    if (result == 0) record("mkdir", path, NULL);
    return result;
}
DIR *opendir(const char *path) {
    record("list", path, NULL);
    return REAL(opendir)(path);
}

/* The target of the link $FAULTS/descriptors is the number of files that can still be opened. */
static int without_descriptors(void) {
    static int opened;
    char path[4096], limit[32];
    if (!getenv("FAULTS")) return 0;
    snprintf(path, sizeof path, "%s/descriptors", getenv("FAULTS"));
    ssize_t length = readlink(path, limit, sizeof limit - 1);
    if (length < 0) { opened = 0; return 0; }
    limit[length] = 0;
    return __sync_fetch_and_add(&opened, 1) >= atoi(limit);
}

#define OPEN(name, ...) \
    if (without_descriptors()) { errno = EMFILE; return -1; } \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return REAL(name)(__VA_ARGS__, flags, mode);

int open(const char *path, int flags, ...) { OPEN(open, path) }
int open64(const char *path, int flags, ...) { OPEN(open64, path) }
int openat(int at, const char *path, int flags, ...) { OPEN(openat, at, path) }
int openat64(int at, const char *path, int flags, ...) { OPEN(openat64, at, path) }

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fd > 2) FAIL("space", ENOSPC)
    return REAL(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    FAIL("space", ENOSPC)
    if (count == 1) FAIL("log_index", ENOSPC)
    return REAL(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    FAIL("space", ENOSPC)
    /* SQLite extends the -shm file by writing single bytes. */
    if (count == 1) FAIL("log_index", ENOSPC)
    return REAL(pwrite64)(fd, bytes, count, at);
}
