// Package page owns the tables of the documentation that tests know. In come a page, the
// header of a table and its rows; out comes an error where the page differs, or the page
// with those rows, with -update. A table ends with an empty line.
// Only tests and the benchmark import it.
package page
