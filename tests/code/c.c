/* A file of C. */
#include <stdio.h>
#define MAX 10
#define FLAG
#define SQUARE(x) \
    ((x) * (x))
#ifndef SOME_H
#define SOME_H
#endif

/* A prototype. */
static int forward(int a, const char *b);
extern int errno_like;
extern void (*handler)(int);

// Names.
const char *const NAMES[] = {
    "one",
};
static unsigned long counter = 0, *pointer;
int (*callback)(int, void *) = 0;

struct point {
    int x, y;     /* across, up */
    unsigned flags : 3;
    union { int i; float f; } value;
    int (*run)(struct point *self);
    struct inner { char c; } in;
};
struct forward_only;
typedef struct point point_t;
typedef struct { double w; } größe, *größe_p;
typedef struct node { struct node *next; } node;
typedef int (*compare)(const void *, const void *);
typedef unsigned long size_type;
typedef enum { LOW, HIGH = 2 } level;

enum color { RED, GREEN = 1 << 2,
#ifdef MORE
    BLUE,
#endif
};
enum { ANONYMOUS = 3 };
union bits { float f; unsigned u; } shared;

#if defined(A)
int on_a(void) { return 1; }
#elif defined(B)
int on_b(void) { return 2; }
#else
int on_other(void) { return 3; }
#endif

/** Does it. */
static inline int
forward(int a, /* first */
        const char *b)
{
    int local = a;
    return local;
}

char **words(void) { return 0; }
int old_style(a, b) int a; char b; { return a; }
__attribute__((noreturn)) void stop(void) { for (;;); }
void (*choose(int n))(int) { return 0; }
enum {
    FIRST,
};
struct { int loose; } unnamed_type;
