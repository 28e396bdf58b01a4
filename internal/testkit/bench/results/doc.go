// Package results owns the files of bench/results: the newest run of each row of the
// benchmark, with its goal, date and machine. In comes what was measured; out come the
// files, and the rows of the page bench/results/README.md.
package results
