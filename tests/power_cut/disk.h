#ifndef DISK_H
#define DISK_H

#include <stdint.h>

/* The numbers of DISK_CONTROL; disk.rs has the same list. */
enum {
    OPERATIONS, /* writes, and beginnings and ends of syncs, so far */
    CUT_AT,     /* the power goes at this operation; 0: never */
    FAULTS,     /* bits, see below */
    ROOM,       /* bytes that may still be written under FULL */
    SLOW_MS,    /* each sync takes that long */
    FREE_BYTES, /* what statfs says is free; 0: the truth */
    FIRED,      /* calls that a fault changed */
    WRITTEN,    /* bytes written */
    SYNCS,      /* syncs that ended well */
    NUMBERS = 16
};

enum {
    FULL = 1,       /* ENOSPC once ROOM is used up */
    READ_ONLY = 2,  /* EROFS */
    BAD_SYNC = 4,   /* EIO from fsync and fdatasync */
    BAD_FLUSH = 8,  /* EIO from sync_file_range */
    NO_SYNC = 16,   /* fdatasync says 0 and does nothing */
    SHORT = 32,     /* a write takes half of what it is given */
};

extern volatile uint64_t *control;

/* Says what failed, and ends the process. */
void die(const char *what);

/* From here on FREE_BYTES is what statfs says. */
void trap_statfs(void);

#endif
