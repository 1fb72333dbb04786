<!DOCTYPE html>
<?php
declare(strict_types=1);

namespace App\Models;

use Foo\Bar;

define('APP_ROOT', __DIR__);
const VERSION = '1.0', BUILD = 2;

/**
 * A shape.
 */
#[Attribute]
abstract class Größe extends Base implements Shape, \Countable
{
    use Helper;
    public const MAX = 10;
    private static ?int $count = 0;
    public $a, $b = 2;
    public string $hooked { get => 'x'; }

    /** Makes one. */
    public function __construct(private readonly int $width, protected ?string $name = null, int $plain = 1)
    {
        parent::__construct();
    }
    #[Pure]
    final public static function of(string ...$texts): static { function inner_function() {} return new static(1); }
    abstract protected function draw(array $options = []): void;
    public function &reference() { return $this->a; }
    function plain() {}
}

interface Shape { const SIDES = 4; public function area(): float; }
trait Helper { protected int $used = 0; public function help() {} }
enum Suit: string implements Shape {
    case Hearts = 'h';
    case Spades = 's';
    const Wild = self::Spades;
    public function label(): string { return ucfirst($this->value); }
}
final readonly class Closed {}

function helper(int $a,
    // second
    int $b = 2): int { return $a; }
if (!function_exists('polyfill')) {
    function polyfill() {}
} else {
    class Conditional {}
}
$closure = function () {};
?>
<p><?= helper(1) ?></p>
<?php function after_html() {} ?>
