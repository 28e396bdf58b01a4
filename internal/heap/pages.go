package heap

import (
	"os"
	"strings"
	"syscall"
	"unsafe"
)

const (
	// stretch is how far the heap is to be in huge pages, in bytes: as far as a plan
	// of 10,000 grows. It is a power of two because stacks are.
	stretch = 128 << 20
	// frame is more than half a stretch, so that the stack for it is a stretch.
	frame = stretch/2 + stretch/8
	// worthHuge is from how many bytes of manifests on a command touches so much memory
	// that huge pages are cheaper: those of about 250 resources. To get ready for
	// them takes a millisecond or two, and the first of them as long as a few hundred others.
	worthHuge = 32 << 10
	// spareStretches is how much more memory must be promised to a process that asks
	// for it, beside a stretch of it: the heap may never use all of that, and have to
	// grow behind it.
	spareStretches = 3
	// hugePage is what most processors call one, in bytes. Where it is another size
	// the kernel takes what fits.
	hugePage = 2 << 20
	// adviceHuge is the kernel's MADV_HUGEPAGE.
	adviceHuge = 14
	// unlimited is the kernel's RLIM_INFINITY.
	unlimited = 1<<64 - 1
)

// inHugePages has the heap grow by a stretch of addresses for which the kernel is
// asked for huge pages: one fault brings 2 MiB and not 4 KiB, and the processor
// finds its way about a heap that is large. Nothing is taken yet; what is never
// touched never is.
//
// The runtime asks for no huge pages itself. It maps its heap 4 MiB at a time
// (pallocChunkBytes), each time anew, and the kernel forgets then what it had been
// told of those addresses: so advice has to come after the mapping and before the
// use. What makes the runtime map many chunks at once, and use none of them, is a
// stack: that of a goroutine with a large frame is taken from the heap without being
// touched but for its end, and given back as the goroutine ends, without a collection.
//
// Where anything of this is otherwise the heap is in small pages, as any: where the
// process has a limit of addresses, where the kernel has no huge pages, or promises
// no more memory than there is and has little. Where huge pages are said to be never
// used, the advice is for nothing. A control group without room for one gets small ones.
func inHugePages() {
	if strings.Contains(os.Getenv("GODEBUG"), "disablethp=1") || limited() || !trial((1+spareStretches)*stretch) {
		return
	}
	given := make(chan struct{})
	go func() {
		defer close(given)
		deep(false)
		advise()
	}()
	<-given
}

// limited reports whether the process has a limit for its addresses. The runtime ends
// a process that cannot map what it needs.
func limited() bool {
	for _, which := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(which, &limit); err != nil || limit.Cur != unlimited {
			return true
		}
	}
	return false
}

// trial reports whether so many bytes can be mapped, and have huge pages.
func trial(size int) bool {
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	err = syscall.Madvise(memory, adviceHuge)
	return syscall.Munmap(memory) == nil && err == nil
}

// advise speaks of the goroutine's stack, which a call of deep has made a stretch
// long, and of which this is the end. What it says of addresses that are not
// mapped, or not of the stack, does no harm.
func advise() {
	var here byte
	end := (uintptr(unsafe.Pointer(&here)) + hugePage - 1) &^ (hugePage - 1)
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, end-stretch, stretch, adviceHuge)
}

// deep needs a stack for what wide returns, and touches none of it.
//
//go:noinline
func deep(touch bool) {
	if touch {
		wide()
	}
}

//go:noinline
func wide() (all [frame]byte) { return }
