package transfer

import "time"

// The limits of what comes from a registry, in bytes and layers. It is untrusted.
const (
	maxManifest = 4 << 20
	MaxConfig   = 8 << 20
	MaxLayers   = 127
)

// Backoff gives a registry 15 seconds to recover.
var Backoff = [...]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
