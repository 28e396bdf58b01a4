package ending

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/types/known/timestamppb"

	"deployster/containerd/sandbox"
)

// A first process that has the whole machine is over only when its cgroup is empty.
func TestFinder_IsOverWithAnEmptyCgroup(t *testing.T) {
	id := "deployster-test-" + strconv.Itoa(os.Getpid())
	var group string
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} { // of version 1, or 2
		group = root + sandbox.CgroupPath(id)
		if os.Mkdir(group, 0o755) == nil {
			break
		}
	}
	left := exec.Command("sleep", "600")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = left.Wait(); close(ended) }() // it is killed
	t.Cleanup(func() {
		_ = left.Process.Kill()
		<-ended
		_ = unix.Rmdir(group) // a process of it may just be ending
	})
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(left.Process.Pid)), 0o644); err != nil {
		t.Fatal(err)
	}
	f := Finder{ID: id, Whole: true, Limit: time.Minute}
	code, err := f.Proven(t.Context(), &taskapi.WaitResponse{ExitStatus: 3, ExitedAt: timestamppb.Now()})
	if code != 3 || err != nil || len(sandbox.Left(id)) > 0 {
		t.Errorf("exit code %d, %v, and %v is left", code, err, sandbox.Left(id))
	}
}
