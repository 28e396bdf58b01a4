//go:build !race

package scale_test

const raceDetector = false
