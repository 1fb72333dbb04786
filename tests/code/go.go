// Package shapes has words.
package shapes

import "fmt"

// Max is how many.
const Max = 10
const (
	// First is first.
	First Kind = iota
	Second
	third, fourth = 1, 2
)

var ErrNone = fmt.Errorf("none")
var (
	a, b int
	_    Shape = (*Circle)(nil)
	table = map[string]int{
		"x": 1,
	}
)

// Kind is a kind.
type Kind int
type Alias = map[string]Kind
type (
	// Point is a point.
	Point struct {
		X, Y float64 `json:"x"`
		*Kind
		inner struct{ deep int }
	}
	Number interface {
		~int | ~float64
	}
)

// Shape has an area.
type Shape interface {
	fmt.Stringer
	// Area is told.
	Area(scale float64) (area float64, err error)
}

type Circle[T Number] struct{ Größe T }
type Handler func(w Writer, r *Request) error

/* New makes one. */
func New[T Number](größe T) *Circle[T] {
	type local struct{}
	helper := func() {}
	helper()
	return &Circle[T]{größe}
}

func (c *Circle[T]) Area(scale float64) (area float64, err error) { return 0, nil }
func (Point) String() string { return "" }
func (k Kind,
) Odd(
	a int, // first
	b ...string,
) {
}
func assembly(x int) int
func init() {}
