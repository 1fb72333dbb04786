"""A test of a Go program that fails."""

from play.intents import Change, Read, Run, plans
from play.job import Job, commit, runs, write

FILES = {
    "go.mod": "module example.org/shop\n\ngo 1.19\n",
    "stock/stock.go": '''// Package stock keeps what is on the shelves.
package stock

import "errors"

// ErrMissing says that there is not enough of an article.
var ErrMissing = errors.New("not enough on the shelf")

// Shelf has the number of pieces of each article.
type Shelf map[string]int

// Take takes pieces of an article off the shelf.
func (s Shelf) Take(article string, pieces int) error {
	if s[article] <= pieces {
		return ErrMissing
	}
	s[article] -= pieces
	return nil
}
''',
    "stock/stock_test.go": '''package stock

import (
	"errors"
	"testing"
)

func TestTake(t *testing.T) {
	for _, c := range []struct {
		pieces, left int
		err          error
	}{
		{1, 2, nil},
		{3, 0, nil},
		{4, 3, ErrMissing},
	} {
		shelf := Shelf{"pen": 3}
		if err := shelf.Take("pen", c.pieces); !errors.Is(err, c.err) {
			t.Errorf("Take(%d): got error %v, want %v", c.pieces, err, c.err)
		}
		if shelf["pen"] != c.left {
			t.Errorf("Take(%d): %d left, want %d", c.pieces, shelf["pen"], c.left)
		}
	}
}
''',
    "main.go": '''package main

import (
	"fmt"

	"example.org/shop/stock"
)

func main() {
	shelf := stock.Shelf{"pen": 3}
	fmt.Println(shelf.Take("pen", 1), shelf)
}
''',
}


def make(folder):
    write(folder, FILES)
    commit(folder)


def check(folder):
    return runs(folder, "go", "test", "./...") or runs(folder, "go", "vet", "./...")


JOB = Job(
    task="`go test ./...` fails in this project. Fix it.",
    make=make,
    check=check,
    plans=plans(
        Run("See what fails, and where.", "go test ./... 2>&1 | tail -30; ls stock", shows="Take(3): got error"),
        Read("The last pieces cannot be taken. Where is that?", ["stock/stock.go"], shows="<= pieces"),
        Change(
            "All pieces may be taken.",
            [("stock/stock.go", "	if s[article] <= pieces {\n", "	if s[article] < pieces {\n")],
            check="go test ./... && go vet ./...", shows="example.org/shop/stock",
        ),
    ),
)
