// Package trace follows the value of a config to what it is made of, and to where it is
// written. It owns how far and how much is told. A value with its expression comes in,
// lines for people go out.
package trace
