package containerd

// Socket is where the embedded containerd of a data directory listens while it
// runs, for ctr and its like. An empty directory means the default one.
func Socket(dataDir string) (string, error) {
	o, err := Options{DataDir: dataDir}.withDefaults()
	return o.server().Socket(), err
}
