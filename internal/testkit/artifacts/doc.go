// Package artifacts tests artifacts with real containers: images of ours in both
// protocols, over a world that a test serves, asked through the real runner and kept in the
// real store. What the images that people have do otherwise is in the tests, each with the
// image that does it.
package artifacts
