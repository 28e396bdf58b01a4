package source

// The limits on what is read. Those of what is in it are in config/limits.
const (
	MaxFileSize  = 16 << 20 // bytes in one manifest or variable file
	MaxFiles     = 1000     // manifest files
	maxTotalSize = 64 << 20 // bytes in all manifests
)
