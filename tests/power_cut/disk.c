/*
 * A disk that loses what was not synced, and fails when it is told to.
 *
 * Preloaded into the program under test. It follows the files below DISK_DIR and keeps in DISK_LOG,
 * which lies elsewhere, what each write put in the place of what, and what each sync made durable.
 * A power cut is the SIGKILL of the process at a chosen operation; afterwards disk.rs takes back
 * writes that were not synced. The log is written before the write that it tells of, and by
 * write(2), so that it outlives the process whatever the moment.
 *
 * Creating, renaming and removing files is taken as durable at once. sync_file_range makes nothing
 * durable: it tells the disk's cache nothing. A sync covers the writes that had returned when it
 * began.
 *
 * DISK_CONTROL is a file of 16 numbers of 64 bits (disk.h), mapped here and read and written by
 * disk.rs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "disk.h"

/* A record of DISK_LOG: this, then the old bytes, then the new ones. */
struct record {
    uint64_t kind;
    uint64_t inode;
    uint64_t offset;     /* SYNCED: the records that it covers, counted from the first */
    uint64_t size;       /* of the file before; TRUNCATED: offset is the size after */
    uint64_t old_length;
    uint64_t new_length;
};

enum { WRITTEN_TO = 1, TRUNCATED, SYNCED, GONE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile uint64_t *control;
static int log_fd = -1;
static uint64_t records;
static char dir[PATH_MAX];
static size_t dir_length;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_sync_file_range)(int, off64_t, off64_t, unsigned);
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);

void die(const char *what)
{
    perror(what);
    abort();
}

static void *symbol(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        die(name);
    return found;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("DISK_DIR"), *numbers = getenv("DISK_CONTROL");
    const char *undo = getenv("DISK_LOG");
    real_write = symbol("write");
    real_pwrite = symbol("pwrite64");
    real_writev = symbol("writev");
    real_ftruncate = symbol("ftruncate64");
    real_fsync = symbol("fsync");
    real_fdatasync = symbol("fdatasync");
    real_sync_file_range = symbol("sync_file_range");
    real_open = symbol("open64");
    real_openat = symbol("openat64");
    real_mkdir = symbol("mkdir");
    real_rename = symbol("rename");
    real_unlink = symbol("unlink");
    if (!path || !numbers || !undo || strlen(path) >= sizeof dir)
        return;
    int fd = real_open(numbers, O_RDWR | O_CLOEXEC);
    log_fd = real_open(undo, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0 || log_fd < 0)
        die("open control and log");
    control = mmap(NULL, NUMBERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        die("map control");
    close(fd);
    dir_length = strlen(path);
    memcpy(dir, path, dir_length + 1);
    trap_statfs();
}

static int is_below(const char *path)
{
    return !strncmp(path, dir, dir_length) && (path[dir_length] == '/' || !path[dir_length]);
}

/* Whether a descriptor is of a file (or directory) that is followed. */
static int is_ours(int fd, struct stat *status)
{
    int before = errno, ours = 0;
    if (control && !fstat(fd, status) && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) {
        char link[64], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
        ours = is_below(path);
    }
    errno = before;
    return ours;
}

static int is_on(uint64_t fault)
{
    return (control[FAULTS] & fault) != 0;
}

static int fails(int error)
{
    __atomic_add_fetch(&control[FIRED], 1, __ATOMIC_SEQ_CST);
    errno = error;
    return -1;
}

/* Counts an operation; the power may go. With the lock held, so that no other one comes after. */
static void count(void)
{
    uint64_t now = ++control[OPERATIONS];
    if (control[CUT_AT] && now >= control[CUT_AT]) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
}

static void put(const void *bytes, size_t length)
{
    while (length) {
        ssize_t taken = real_write(log_fd, bytes, length);
        if (taken < 0)
            die("write the log");
        bytes = (const char *)bytes + taken;
        length -= (size_t)taken;
    }
}

static void note(struct record record, const void *old, const void *new)
{
    put(&record, sizeof record);
    put(old, record.old_length);
    put(new, record.new_length);
    records++;
}

/* What a file holds from an offset on, up to a length; the caller frees it. */
static char *read_old(int fd, off_t offset, size_t length)
{
    char *bytes = malloc(length + 1), link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = real_open(link, O_RDONLY | O_CLOEXEC);
    if (!bytes || again < 0)
        die("read what is there");
    for (size_t done = 0; done < length;) {
        ssize_t taken = pread64(again, bytes + done, length - done, offset + (off_t)done);
        if (taken <= 0)
            die("read what is there");
        done += (size_t)taken;
    }
    close(again);
    return bytes;
}

/* A write to a followed file. An offset below 0 is the descriptor's own place. */
static ssize_t write_at(int fd, const void *bytes, size_t length, off_t offset)
{
    struct stat status;
    ssize_t result = -1;
    pthread_mutex_lock(&lock);
    count();
    if (is_on(READ_ONLY)) {
        result = fails(EROFS);
        goto out;
    }
    if (is_on(FULL) && length > control[ROOM]) {
        length = control[ROOM];
        if (!length) {
            result = fails(ENOSPC);
            goto out;
        }
        __atomic_add_fetch(&control[FIRED], 1, __ATOMIC_SEQ_CST);
    }
    if (is_on(SHORT) && length > 1) {
        length /= 2;
        __atomic_add_fetch(&control[FIRED], 1, __ATOMIC_SEQ_CST);
    }
    if (fstat(fd, &status))
        goto out;
    off_t place = offset;
    if (offset < 0)
        place = fcntl(fd, F_GETFL) & O_APPEND ? status.st_size : lseek(fd, 0, SEEK_CUR);
    size_t old = 0;
    if (place < status.st_size)
        old = (size_t)(status.st_size - place) < length ? (size_t)(status.st_size - place) : length;
    char *before = read_old(fd, place, old);
    struct record record = { WRITTEN_TO, status.st_ino, (uint64_t)place, (uint64_t)status.st_size,
                             old, length };
    note(record, before, bytes);
    free(before);
    result = offset < 0 ? real_write(fd, bytes, length) : real_pwrite(fd, bytes, length, offset);
    if (result > 0) {
        control[WRITTEN] += (uint64_t)result;
        if (is_on(FULL))
            control[ROOM] -= (uint64_t)result;
    }
out:
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    struct stat status;
    return is_ours(fd, &status) ? write_at(fd, bytes, length, -1) : real_write(fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
    struct stat status;
    return is_ours(fd, &status) ? write_at(fd, bytes, length, offset)
                                : real_pwrite(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    return pwrite64(fd, bytes, length, offset);
}

/* Of a followed file the first part only, which a caller must expect. */
ssize_t writev(int fd, const struct iovec *parts, int many)
{
    struct stat status;
    if (!is_ours(fd, &status))
        return real_writev(fd, parts, many);
    for (int at = 0; at < many; at++)
        if (parts[at].iov_len)
            return write_at(fd, parts[at].iov_base, parts[at].iov_len, -1);
    return 0;
}

/* Nobody here is known to use these; one who does must not pass unseen. */
ssize_t pwritev64(int fd, const struct iovec *parts, int many, off64_t offset)
{
    (void)fd, (void)parts, (void)many, (void)offset;
    die("pwritev is not followed");
    return -1;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t length)
{
    (void)fd, (void)mode, (void)offset, (void)length;
    die("fallocate is not followed");
    return -1;
}

int ftruncate64(int fd, off64_t size)
{
    struct stat status;
    if (!is_ours(fd, &status))
        return real_ftruncate(fd, size);
    int result;
    pthread_mutex_lock(&lock);
    count();
    if (is_on(READ_ONLY)) {
        result = fails(EROFS);
    } else if (fstat(fd, &status)) {
        result = -1;
    } else {
        size_t old = size < status.st_size ? (size_t)(status.st_size - size) : 0;
        char *before = read_old(fd, size, old);
        struct record record = { TRUNCATED, status.st_ino, (uint64_t)size,
                                 (uint64_t)status.st_size, old, 0 };
        note(record, before, "");
        free(before);
        result = real_ftruncate(fd, size);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

static int sync_by(int (*real)(int), int fd, int does_nothing)
{
    struct stat status;
    if (!is_ours(fd, &status))
        return real(fd);
    pthread_mutex_lock(&lock);
    count();
    uint64_t covers = records, slow_ms = control[SLOW_MS];
    pthread_mutex_unlock(&lock);
    if (slow_ms) {
        struct timespec wait = { (time_t)(slow_ms / 1000), (long)(slow_ms % 1000) * 1000000 };
        nanosleep(&wait, NULL);
        __atomic_add_fetch(&control[FIRED], 1, __ATOMIC_SEQ_CST);
    }
    int result = is_on(BAD_SYNC) ? fails(EIO) : does_nothing ? 0 : real(fd);
    pthread_mutex_lock(&lock);
    count();
    if (does_nothing && !result)
        control[FIRED]++;
    else if (!result) {
        struct record record = { SYNCED, status.st_ino, covers, 0, 0, 0 };
        note(record, "", "");
        control[SYNCS]++;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd)
{
    return sync_by(real_fsync, fd, 0);
}

int fdatasync(int fd)
{
    return sync_by(real_fdatasync, fd, control && is_on(NO_SYNC));
}

int sync_file_range(int fd, off64_t offset, off64_t length, unsigned flags)
{
    struct stat status;
    if (is_ours(fd, &status) && is_on(BAD_FLUSH))
        return fails(EIO);
    return real_sync_file_range(fd, offset, length, flags);
}

/* Why a name below the directory cannot be made or changed; 0 where it can. */
static int refused(const char *path, int makes)
{
    if (!control || !is_below(path))
        return 0;
    if (is_on(READ_ONLY))
        return EROFS;
    return makes && is_on(FULL) && !control[ROOM] ? ENOSPC : 0;
}

static int refused_open(const char *path, int flags)
{
    int makes = (flags & O_CREAT) && access(path, F_OK);
    int writes = makes || (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
    return writes ? refused(path, makes) : 0;
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int error = refused_open(path, flags);
    return error ? fails(error) : real_open(path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int error = refused_open(path, flags);
    return error ? fails(error) : real_openat(at, path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
    int error = refused(path, 1);
    return error ? fails(error) : real_mkdir(path, mode);
}

/* A file is gone, and its inode may soon be another one's. */
static void gone(const char *path)
{
    struct stat status;
    if (control && is_below(path) && !lstat(path, &status) && S_ISREG(status.st_mode)) {
        struct record record = { GONE, status.st_ino, 0, 0, 0, 0 };
        note(record, "", "");
    }
}

int rename(const char *from, const char *to)
{
    int error = refused(to, 0);
    if (error)
        return fails(error);
    pthread_mutex_lock(&lock);
    gone(to);
    int result = real_rename(from, to);
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path)
{
    int error = refused(path, 0);
    if (error)
        return fails(error);
    pthread_mutex_lock(&lock);
    gone(path);
    int result = real_unlink(path);
    pthread_mutex_unlock(&lock);
    return result;
}
