package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// shared names the file systems that several machines may mount at the same time, by the
// magic numbers of statfs(2). There a flock may hold on one machine only, and an fsync
// may reach the server later than it reports.
var shared = map[int64]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB",
	0x01021997: "9P",
	0x00c36400: "Ceph",
	0x5346414f: "AFS",
	0x47504653: "GPFS",
	0x0bd00bd0: "Lustre",
	0x7461636f: "OCFS2",
	0x01161970: "GFS2",
	0x65735546: "FUSE",
}

// SharedFS returns the name of the network or user-space file system that a file is on,
// or would be on; "" = a local one.
func SharedFS(path string) (string, error) { return sharedFS(path, syscall.Statfs) }

func sharedFS(path string, statfs func(string, *syscall.Statfs_t) error) (string, error) {
	var st syscall.Statfs_t
	err := statfs(path, &st)
	if errors.Is(err, syscall.ENOENT) {
		err = statfs(filepath.Dir(path), &st)
	}
	if err != nil {
		return "", &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return shared[int64(uint32(st.Type))], nil
}
