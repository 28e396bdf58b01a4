//go:build race

package scale_test

const raceDetector = true
