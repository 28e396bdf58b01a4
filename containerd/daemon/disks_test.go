package daemon

import (
	"strings"
	"testing"
)

// The directory that the warning names is on a disk that is written to, of those with the most space.
func TestOtherDisk_IsTheWritableOneWithMostSpace(t *testing.T) {
	t.Parallel()
	const inContainer = `600 500 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
601 600 0:51 / /proc rw,nosuid - proc proc rw
602 600 254:1 /docker/hosts /etc/hosts rw,relatime - ext4 /dev/vda1 rw
603 600 254:1 /resolv /etc/resolv.conf rw,relatime - ext4 /dev/vda1 rw
604 600 0:52 / /dev/shm rw - tmpfs shm rw,size=65536k
605 600 254:1 /src /src ro,relatime - ext4 /dev/vda1 rw
606 600 254:9 / /broken rw,relatime - ext4 /dev/vdc ro,errors=remount-ro
`
	const volumes = `607 600 254:1 /v /small rw,relatime shared:5 - ext4 /dev/vda1 rw
608 600 254:2 / /my\040data rw,relatime master:7 - xfs /dev/vdb rw,attr2
609 600 254:3 / /with:colon rw,relatime - xfs /dev/vdd rw
`
	free := func(path string) int64 {
		return map[string]int64{"/small": 5, "/my data": 9, "/with:colon": 99, "/src": 99, "/broken": 99, "/dev/shm": 99, "/": 99}[path]
	}
	for mounts, want := range map[string]string{inContainer: "", inContainer + volumes: "/my data", "": "", "nonsense\n1 2 3 - x": ""} {
		if got := otherDisk(strings.NewReader(mounts), free); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
