package elsewhere

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/containerd/log"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/bundled"
	"deployster/containerd/contents"
	"deployster/containerd/failure"
	"deployster/containerd/images"
	"deployster/containerd/ocidir"
	"deployster/containerd/registry"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// RegistryOptions are how registries are reached.
type RegistryOptions = registry.Options

// Bundled returns the images that come with deployster: to send them to hosts takes no runtime.
func Bundled() bundled.Files { return bundled.Find() }

// Runtime is a runtime that runs nothing. It is safe for concurrent use.
type Runtime struct {
	Images *images.Store
	conn   contents.Conn
	dir    string
	why    error // nothing can run here; nil = it was not tried
}

// Open opens the runtime whose images and artifacts are below a directory. why is the reason why nothing
// can run on this machine.
func Open(dir string, o RegistryOptions, why error) (*Runtime, error) {
	log.L.Logger.SetOutput(io.Discard) // errors report all of it
	conn, err := ocidir.Open(filepath.Join(dir, "images"))
	if err != nil {
		return nil, diag.Because(err, "The cache directory "+dir+" is not usable",
			"%s. Deployster keeps its images there. Make it a directory that you can write, or choose another with XDG_CACHE_HOME.",
			failure.Sentence(err))
	}
	return &Runtime{Images: images.NewStore(conn, stored{conn}, o), conn: conn, dir: dir, why: why}, nil
}

// stored is an images.Preparer for images that are only stored.
type stored struct{ conn contents.Conn }

// Prepare implements images.Preparer.
func (s stored) Prepare(ctx context.Context, dgst string) error {
	_, err := config(ctx, s.conn, dgst)
	return err
}

// Forget implements images.Preparer.
func (stored) Forget(digest.Digest) {}

// NotHere returns the error about what would run on this machine. why is the reason why nothing can.
func NotHere(why error) error {
	if os.Geteuid() == 0 { // it is not Linux
		return diag.Errorf("Not on this machine", "runs on this machine, which is not Linux: give the resource a host.")
	}
	detail := ""
	for _, d := range diag.From("", why) {
		detail = " Without root: " + d.Detail
	}
	return diag.Because(why, "Not enough rights to run containers", "requires root: runs on this machine. Run deployster as root "+
		"(sudo), or use a containerd whose socket you may use: -containerd-address SOCKET, or CONTAINERD_ADDRESS. What has a host "+
		"needs neither.%s", detail)
}

func (r *Runtime) notHere() error { return NotHere(r.why) }

// Run implements runner.Runner.
func (r *Runtime) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{}, r.notHere()
}

// Launch implements runner.Launcher.
func (r *Runtime) Launch(context.Context, runner.Spec) (runner.Process, error) {
	return nil, r.notHere()
}

// Adopt implements runner.Adopter.
func (r *Runtime) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return runner.Outcome{}, r.notHere()
}

// Discard implements runner.Adopter.
func (r *Runtime) Discard(context.Context, string) error { return r.notHere() }

// Running implements router.Adopter.
func (r *Runtime) Running(context.Context, string) (bool, error) { return false, r.notHere() }

// Resolve implements runner.Runner.
func (r *Runtime) Resolve(ctx context.Context, ref string) (runner.Image, error) {
	return r.Images.Resolve(ctx, ref)
}

// Obtain finds an image or pulls it.
func (r *Runtime) Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error) {
	return r.Images.Obtain(ctx, w)
}

// Has implements runner.Inspector.
func (r *Runtime) Has(context.Context, string, ...string) ([]bool, error) { return nil, r.notHere() }

// Labels implements runner.Inspector.
func (r *Runtime) Labels(ctx context.Context, dgst string) (map[string]string, error) {
	return config(ctx, r.conn, dgst)
}

// config returns the labels in the config of an image, or why the image cannot be run.
func config(ctx context.Context, conn contents.Conn, dgst string) (map[string]string, error) {
	ctx = conn.Context(ctx)
	record, err := conn.Client.ImageService().Get(ctx, dgst)
	if err != nil {
		return nil, failure.Of("Finding the image "+dgst, err)
	}
	c, err := images.ReadConfig(ctx, conn.Client.ContentStore(), record)
	if err != nil {
		return nil, diag.Because(err, "The image "+record.Name+" cannot be run", "%s.", failure.Sentence(err))
	}
	return c.Config.Labels, nil
}

// Shipment implements router.Images.
func (r *Runtime) Shipment(ctx context.Context, dgst, arch string) (imagestore.Shipment, error) {
	return r.Images.Shipment(ctx, dgst, arch)
}

// Named implements router.Images.
func (r *Runtime) Named(ctx context.Context, dgst string) (imagestore.Shipment, error) {
	return r.Images.Named(ctx, dgst)
}

// ReadContent implements imagestore.Contents.
func (r *Runtime) ReadContent(ctx context.Context, dgst string, offset int64, n int) ([]byte, error) {
	return r.Images.ReadContent(ctx, dgst, offset, n)
}

// Artifacts returns the directory for the store of artifacts, below the directory of Open.
func Artifacts(dir string) string { return filepath.Join(dir, "artifacts") }

// Artifacts returns the directory for the store of artifacts.
func (r *Runtime) Artifacts() string { return Artifacts(r.dir) }

// Withheld returns why a path of this machine is not given to containers; none runs here.
func (r *Runtime) Withheld(string) string { return "" }

// Close releases what the runtime holds.
func (r *Runtime) Close() error { return r.conn.Client.Close() }
