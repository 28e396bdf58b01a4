// Package report has the checks of an image by name, and what a run of them found.
package report
