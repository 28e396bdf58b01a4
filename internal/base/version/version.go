package version

// Version, Commit and Date are those of this program. The linker sets them in a release
// (-X); another build has the ones that Go recorded, if any.
var (
	Version = "0.1.0"
	Commit  string
	Date    string // of the commit, in RFC 3339
)
