package example

@Retention(RUNTIME) @Qualifier annotation class First

@Target(TYPE) annotation class Second

@Marker object Third

public sealed class Reader : Closeable {
  private var final = false
  public companion object {
    fun of(): Reader = TODO()
  }
  fun timer(): Timer = object : Timer() {
    override fun timedOut() {
      val local = 1
    }
  }
}

actual open class Text
internal actual constructor(
  internal actual val data: ByteArray,
) : Serializable {
  actual fun size() = data.size
}

class Behind : Base(
  given(
) {
  fun stillFound() {
  }
}
