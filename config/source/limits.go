package source

// The limits on the files. Package config/limits has the limits on their content.
const (
	MaxFileSize  = 16 << 20 // bytes in one manifest or variable file
	MaxFiles     = 1000     // manifest files
	maxTotalSize = 64 << 20 // bytes in all manifests
)
