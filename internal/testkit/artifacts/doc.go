// Package artifacts tests artifacts with real containers: images of ours in both
// protocols, over a world that a test serves, asked through the real runner and kept in the
// real store. The habits of the images that people have are told in the tests, each with
// the image that has it.
package artifacts
