//go:build race

package config

import "time"

// The race detector makes everything several times as slow and as large.
const raceDetector = true

const bombTime = 20 * time.Second
