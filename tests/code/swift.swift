import Foundation

/// How many.
public let max: Int = 10
var counter = 0, other: String = "x"

/// A shape.
@objc(Shape)
open class Größe<T: Equatable>: Base, Shape where T: Hashable {
    static let shared = Größe()
    private(set) var width: Double = 0 {
        didSet { update() }
    }
    let a, b: Int
    var area: Double { width * 2 }
    lazy var long: String = {
        return "x"
    }()
    // Makes one.
    public init(width: Double, _ name: String? = nil) throws { self.width = width }
    convenience init?() { nil }
    deinit { print("gone") }
    @discardableResult
    public override func draw<U>(in context: Context, with u: U) async throws -> Bool where U: Shape {
        func local() {}
        return true
    }
    class func make() -> Self { fatalError() }
    static func == (left: Größe, right: Größe) -> Bool { true }
    subscript(index: Int) -> T { get { items[index] } set { } }
    typealias Item = T
    enum Color: String, CaseIterable {
        case red, green = "g"
        indirect case mixed(Color, with: Color)
        var name: String { rawValue }
    }
    struct Inner { class Deep {} }
}

protocol Shape: AnyObject {
    associatedtype Unit: Numeric
    var sides: Int { get set }
    init(sides: Int)
    func area(scale: Double) -> Double
    static func make() -> Self
}

struct Point { var x, y: Double; mutating func move() { x = 0 } }
actor Counter { var n = 0; func up() { n += 1 } }
extension Point: Shape where Unit == Int { func extended() {} }
extension Outer.Inner { var added: Int { 1 } }
func global(_ a: Int,
            b: Int = 2) -> Int { a }
infix operator +++
typealias Handler = (Int) -> Void
#if DEBUG
func onlyThere() {}
#else
func onlyHere() {}
#endif
