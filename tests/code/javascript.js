'use strict';
const fs = require('fs');
const { join } = require('path');
import React, { useState } from 'react';

/** How many. */
export const MAX = 10, MIN = 1;
let counter = 0;
var old, older = function () { return 1; };

/**
 * Adds.
 * @param {number} a
 */
export async function add(a, b = { c: 1 }) {
  function inner() {}
  const local = () => 1;
  return a + b;
}
function* generate() { yield 1; }

// An arrow.
const arrow = async (x, { y }) => {
  function nested() {}
};
const short = x => x + 1;
const named = function original() {};

class Base {}
export default class Größe extends Base {
  static #count = 0;
  title = 'x';
  handler = (event) => { this.go(); };
  constructor(value) { super(); }
  get value() { return 1; }
  set value(v) {}
  static async create() {}
  *[Symbol.iterator]() {}
  #secret() {}
  'quoted name'() {}
  static { counter = 1; }
}
const Anonymous = class extends Base { run() {} };

const api = {
  get(url) { return url; },
  post: async function (url) {},
  put: (url) => url,
  nested: { deep() {} },
  value: 1,
  get size() { return 0; },
};

exports.helper = function (a) { return a; };
exports.value = 3;
module.exports = { create() {}, MAX };
Base.prototype.walk = function walk(steps) {};
Base.make = () => new Base();
Old.prototype = { run: function () {} };

(function (root) {
  function hidden() {}
  var state = 1;
  root.tool = function () {};
})(this);
!function () { function bang() {} }();
define(['a'], function (a) { function amd() {} });

if (typeof window !== 'undefined') {
  function conditional() {}
}

function Component({ name }) { return <div onClick={() => add(1)}>{name}</div>; }
var Compiled = (function (_super) {
  function Compiled() {}
  return Compiled;
})(Base);
