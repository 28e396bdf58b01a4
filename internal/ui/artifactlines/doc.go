// Package artifactlines has the lines of a plan about artifacts: their versions, what a version is, and
// the inputs of a publish whose version changes. Pins and steps of a plan come in, lines go out.
package artifactlines
