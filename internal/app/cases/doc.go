// Package cases runs the tests of manifests: it plans each case against a world that the case describes, and
// compares the plan with what the case expects. It runs no image and changes nothing. Files of tests come in, with
// the schemas that earlier commands have kept of types; a Report goes out.
package cases
