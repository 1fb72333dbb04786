# frozen_string_literal: true
require 'set'

# How many.
MAX = 10
NAMES = %w[
  one
  two
].freeze

# A module.
module Outer
  VERSION = '1.0'

  # A class.
  class Größe < Base
    include Comparable
    attr_accessor :width, :height
    attr_reader :name
    UNITS = { m: 1 }

    def initialize(width, height = 2, *rest, key:, other: 1, &block)
      @width = width
    end

    def area; width * height; end
    def <=>(other) = area <=> other.area
    def name=(value)
      @name = value
    end
    def empty?
      def nested; end
      true
    end
    def self.of(text) new(text) end
    private def hidden(a) a end
    private

    def secret!
    end
    alias size area
    alias_method :length, :area
    define_method(:dynamic) { |x| x }

    class << self
      def create; end
      attr_accessor :config
    end

    class Error < StandardError; end
    if RUBY_VERSION > '2'
      def conditional; end
    end
  end

  class A::B
    def deep; end
  end

  module_function

  def helper(a,
             b) # behind
    a
  end
end

Point = Struct.new(:x, :y) do
  def dist; end
end
Failure = Class.new(StandardError)

module Concern
  extend ActiveSupport::Concern
  included do
    def from_block; end
  end
end

def top_level = 1
def Outer.attached; end
task :build do
  def in_task; end
end
unless defined?(LATE)
  LATE = 1
end

Settings = Options.new(:a, :b) do
  def from_options; end
end
shared = proc { LATER = 2 }
local = Class.new(Base) do
  def of_local; end
  def self.made_by_local; end
end.new
@kept ||= Module.new { def of_kept; end }
lambda { def of_chain; end }.call
