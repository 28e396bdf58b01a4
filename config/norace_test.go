//go:build !race

package config

import "time"

const raceDetector = false

const bombTime = 2 * time.Second
