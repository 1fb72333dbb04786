"""A C program that does not build."""

from play.intents import Change, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "Makefile": "CFLAGS = -Wall -Werror -std=c11\n\ncount: count.c words.c words.h\n\t$(CC) $(CFLAGS) -o $@ count.c words.c\n\ntest: count\n\tprintf 'one two\\n' | ./count | grep -qx 2\n\t@echo passed\n",
    "words.h": "#ifndef WORDS_H\n#define WORDS_H\n\nint words_in(const char *line);\n\n#endif\n",
    "words.c": '''#include "words.h"

int words_in(const char *line) {
    int count = 0, inside = 0;
    for (; *line; line++) {
        if (isspace((unsigned char)*line)) {
            inside = 0;
        } else if (!inside) {
            inside = 1;
            count++;
        }
    }
    return count;
}
''',
    "count.c": '''#include <stdio.h>

#include "words.h"

int main(void) {
    char line[1024];
    int total = 0;
    while (fgets(line, sizeof line, stdin)) {
        total += words_in(line);
    }
    printf("%d\\n", total);
    return 0;
}
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    return runs(folder, "make", "test")


INCLUDE = '#include "words.h"\n'

JOB = Job(
    task="`make test` fails in this project. Fix it.",
    make=make,
    check=check,
    plans=plans(
        Run("See what fails.", "make test 2>&1 | tail -30", shows="isspace"),
        Run("Where do the includes go?", "head -5 words.c", shows='#include "words.h"'),
        Change("isspace is in ctype.h.", [("words.c", INCLUDE, "#include <ctype.h>\n\n" + INCLUDE)], check="make test", shows="passed"),
    ),
)
