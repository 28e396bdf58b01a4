// Package jinja parses Jinja2: the text of a template or of an expression comes in, a tree
// goes out. It evaluates nothing. Precedences and literals are those of Jinja2, which
// differ from Python's: -2 ** 2 is 4, and powers are computed from left to right.
package jinja
