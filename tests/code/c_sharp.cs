using System;
namespace A.B.C
{
    /// <summary>A shape.</summary>
    [Serializable, Obsolete("x")]
    public abstract partial class Größe<T> : Base, IShape where T : class, new()
    {
        public const int Max = 10;
        private static readonly string[] Names = { "one" };
        protected int x, y = 2;
        public event EventHandler Changed, Moved;
        public event EventHandler Custom { add { } remove { } }
        // Makes one.
        public Größe(int n) : base(n) { }
        static Größe() { }
        ~Größe() { }
        public string Name { get; set; } = "x";
        public int Count => x;
        public int Long
        {
            get { return x; }
            set { x = value; }
        }
        public T this[int i] { get => default; }
        [Test(1)]
        public override async Task<int> RunAsync<U>(U u, params string[] rest) where U : struct
        {
            int Local(int a) => a;
            return Local(1);
        }
        public abstract void Draw();
        void IShape.Hidden() { }
        public int Short(int a) => a + 1;
        public static Größe<T> operator +(Größe<T> a, Größe<T> b) => a;
        public static implicit operator int(Größe<T> a) => 1;
        public delegate void Handler(object sender, int e);
        #region Nested
        public struct Point { public int X; }
        #endregion
#if DEBUG
        void OnlyThere() { }
#else
        void OnlyHere() { }
#endif
        enum Color : byte { Red, [Old] Green = 2 }
        private class Inner { class Deep { } }
    }
    public record Person(string Name, int Age) { public int Next() => Age + 1; }
    public readonly record struct Pair(int A, int B);
    interface IShape { double Area { get; } void Draw(); }
}
