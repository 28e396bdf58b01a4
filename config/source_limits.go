package config

// The limits on what is read. Those of what is in it are in config/limits.
const (
	maxFileSize  = 1 << 20  // bytes in one manifest or variable file
	maxFiles     = 1000     // manifest files
	maxTotalSize = 16 << 20 // bytes in all manifests
	maxChain     = 500      // references that lead from one to the next
)
