package a.b.c;

import java.util.List;

/**
 * A shape.
 */
@Deprecated
@SuppressWarnings({"unchecked", "raw"})
public abstract class Größe<T extends Comparable<T>> extends Base implements Shape, Runnable {
    public static final int MAX = 10;
    private static final String[] NAMES = {
        "one",
    };
    protected int x, y = 2;
    private final List<T> items; // said behind

    static { System.out.println(); }

    /** Makes one. */
    public Größe(List<T> items) throws Exception { this.items = items; }

    @Override
    public String toString() { return ""; }

    public abstract <R> R map(java.util.function.Function<T, R> f, int... rest) throws IllegalStateException;
    // A comment above.
    @Test(expected = Exception.class) void
      oddly ( int a /* first */,
              int b )
    { class Local {} }
    synchronized native void gone();

    public enum Color implements Shape {
        RED, GREEN("g") { @Override int n() { return 1; } };
        private final String code;
        Color() { this("x"); }
        Color(String code) { this.code = code; }
        int n() { return 0; }
    }

    interface Shape { int SIDES = 4; double area(); default double twice() { return area() * 2; } static void go() {} }
    record Point<T>(T x, int y) implements Shape {
        Point { if (y < 0) throw new IllegalArgumentException(); }
        static Point<String> of() { return null; }
        public double area() { return 0; }
    }
    @interface Marked { String value() default "x"; int[] numbers(); }
    static class Nested { class Inner { void deep() {} } }
}

sealed interface Result permits Ok, Err {}
final class Ok implements Result {}
non-sealed class Err implements Result {}
