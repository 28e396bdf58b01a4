// Package artifacts is the command artifact: its flags, and how its results are printed.
// A session of the command line comes in; text, documents and exit codes go out. Package
// internal/app/versions does the work.
package artifacts
