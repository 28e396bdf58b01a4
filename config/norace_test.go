//go:build !race

package config

import "time"

const raceDetector = false

const bombTime = 10 * time.Second
