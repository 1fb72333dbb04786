@file:JvmName("Names")
package a.b.c

import java.util.*

/** How many. */
const val MAX = 10
val names = listOf(
    "one",
)
var counter: Int = 0
val lazyOne by lazy { 1 }

/** A shape. */
@Deprecated("x")
open class Größe<T : Comparable<T>>(val width: Int, private var name: String = "x", plain: Int) : Base(width), Shape {
    companion object {
        const val LIMIT = 3
        fun create(): Größe<Int> = TODO()
    }
    private val items = mutableListOf<T>()
    var area: Int
        get() = width * 2
        set(value) { name = "y" }
    lateinit var later: String
    init { println() }
    // Another way.
    constructor(text: String) : this(1, text, 2) { println(text) }
    @Throws(Exception::class)
    override suspend fun <U> draw(u: U, vararg rest: String): Boolean where U : Shape {
        fun local() {}
        return true
    }
    fun short(a: Int) = a + 1
    inner class Inner {
        fun deep() {}
    }
    operator fun plus(other: Größe<T>) = this
}

interface Shape {
    val sides: Int
    fun area(): Double
    fun twice() = area() * 2
}
data class Point(val x: Int, val y: Int)
sealed class Result {
    object Empty : Result()
    data class Ok(val value: Int) : Result()
}
enum class Color(val code: String) {
    RED("r"),
    // Not red.
    GREEN("g") {
        override fun n() = 1
    };

    open fun n() = 0
}
object Single {
    fun go() {}
}
annotation class Marked(val value: String)
typealias Handler<T> = (T) -> Unit
fun interface Action {
    fun run()
}
fun String?.extended(a: Int,
                     b: Int = 2): Int = length
val List<Int>.second: Int get() = this[1]
fun <T> generic(t: T): T { return t }
class Named {
    companion object Factory {
        fun make() = Named()
    }
}
