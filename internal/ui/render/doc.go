// Package render formats plans, reports and progress for people. Values come in,
// text goes out: equal parts are folded, long lists are counted instead of listed, and
// the size is always bounded. The text is not safe for a terminal yet:
// internal/ui/terminal escapes it, hides secrets in it a last time, and converts its
// marks to colours.
package render
