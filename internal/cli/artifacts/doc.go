// Package artifacts is the command artifact: its flags, and how what was found is
// printed. A session of the command line comes in; text, documents and exit codes go out.
// What there is to find, internal/app/versions knows.
package artifacts
