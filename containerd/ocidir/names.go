package ocidir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/filters"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/base/durable"
)

// The annotations of an image in the index of the layout. The first is the one of containerd.
const (
	annotationName   = images.AnnotationImageName
	annotationLabel  = "deployster.label." // and the name of the label
	annotationUpdate = "deployster.updated"
)

// names is an images.Store: the names in the index of a layout. The file is replaced as a whole.
type names struct {
	dir   string
	blobs *blobs
}

// Get implements images.Store.
func (n *names) Get(_ context.Context, name string) (images.Image, error) {
	all, err := n.read()
	if err != nil {
		return images.Image{}, err
	}
	i, known := all[name]
	if !known {
		return i, missing(name)
	}
	return i, nil
}

// List implements images.Store.
func (n *names) List(_ context.Context, fs ...string) ([]images.Image, error) {
	filter, err := filters.ParseAll(fs...)
	if err != nil {
		return nil, err
	}
	all, err := n.read()
	if err != nil {
		return nil, err
	}
	var list []images.Image
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if filter.Match(adapt(all[name])) {
			list = append(list, all[name])
		}
	}
	return list, nil
}

// adapt gives filters the fields that this program filters by.
func adapt(i images.Image) filters.Adaptor {
	return filters.AdapterFunc(func(path []string) (string, bool) {
		switch strings.Join(path, ".") {
		case "name":
			return i.Name, true
		case "target.digest":
			return i.Target.Digest.String(), true
		}
		return "", false
	})
}

// Create implements images.Store.
func (n *names) Create(ctx context.Context, i images.Image) (images.Image, error) {
	err := n.change(ctx, func(all map[string]images.Image) error {
		if _, known := all[i.Name]; known {
			return fmt.Errorf("image %q: %w", i.Name, errdefs.ErrAlreadyExists)
		}
		i.UpdatedAt = time.Now().UTC()
		i.CreatedAt = i.UpdatedAt
		all[i.Name] = i
		return nil
	})
	return i, err
}

// Update implements images.Store.
func (n *names) Update(ctx context.Context, i images.Image, fields ...string) (images.Image, error) {
	var now images.Image
	err := n.change(ctx, func(all map[string]images.Image) error {
		var known bool
		if now, known = all[i.Name]; !known {
			return missing(i.Name)
		}
		if now.Labels = maps.Clone(now.Labels); now.Labels == nil {
			now.Labels = map[string]string{}
		}
		for _, field := range fields {
			label, one := strings.CutPrefix(field, "labels.")
			switch {
			case field == "target":
				now.Target = i.Target
			case field == "labels":
				now.Labels = i.Labels
			case !one:
				return fmt.Errorf("field %q: %w", field, errdefs.ErrInvalidArgument)
			case i.Labels[label] == "":
				delete(now.Labels, label)
			default:
				now.Labels[label] = i.Labels[label]
			}
		}
		if len(fields) == 0 {
			now.Target, now.Labels = i.Target, i.Labels
		}
		now.UpdatedAt = time.Now().UTC()
		all[i.Name] = now
		return nil
	})
	return now, err
}

// Delete implements images.Store.
func (n *names) Delete(ctx context.Context, name string, opts ...images.DeleteOpt) error {
	var o images.DeleteOptions
	for _, opt := range opts {
		if err := opt(ctx, &o); err != nil {
			return err
		}
	}
	return n.change(ctx, func(all map[string]images.Image) error {
		if _, known := all[name]; !known {
			return missing(name)
		}
		if delete(all, name); !o.Synchronous {
			return nil
		}
		return n.blobs.sweep(ctx, slices.Collect(maps.Values(all)))
	})
}

func missing(name string) error { return fmt.Errorf("image %q: %w", name, errdefs.ErrNotFound) }

// change changes the index while no other process does.
func (n *names) change(ctx context.Context, do func(map[string]images.Image) error) (err error) {
	lock, err := durable.WaitLock(ctx, filepath.Join(n.dir, "index.lock"), true, "deployster")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	all, err := n.read()
	if err == nil {
		err = do(all)
	}
	if err != nil {
		return err
	}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
		Manifests: []ocispec.Descriptor{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		index.Manifests = append(index.Manifests, entry(all[name]))
	}
	text, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(n.path(), append(text, '\n'), 0o600)
}

func (n *names) path() string { return filepath.Join(n.dir, ocispec.ImageIndexFile) }

// read reads the index. A missing one is empty.
func (n *names) read() (map[string]images.Image, error) {
	all := map[string]images.Image{}
	text, err := os.ReadFile(n.path())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var index ocispec.Index
	if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.path(), err)
	}
	for _, d := range index.Manifests {
		if name := d.Annotations[annotationName]; name != "" { // else another program has written it
			all[name] = image(name, d)
		}
	}
	return all, nil
}

// entry is the form of an image in the index.
func entry(i images.Image) ocispec.Descriptor {
	d := i.Target
	d.Annotations = maps.Clone(d.Annotations)
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[annotationName] = i.Name
	d.Annotations[ocispec.AnnotationCreated] = i.CreatedAt.Format(time.RFC3339Nano)
	d.Annotations[annotationUpdate] = i.UpdatedAt.Format(time.RFC3339Nano)
	for label, value := range i.Labels {
		d.Annotations[annotationLabel+label] = value
	}
	return d
}

// image is the image of an entry of the index.
func image(name string, d ocispec.Descriptor) images.Image {
	i := images.Image{Name: name, Labels: map[string]string{}}
	for key, value := range d.Annotations {
		if label, is := strings.CutPrefix(key, annotationLabel); is {
			i.Labels[label] = value
		}
	}
	i.CreatedAt, _ = time.Parse(time.RFC3339Nano, d.Annotations[ocispec.AnnotationCreated])
	i.UpdatedAt, _ = time.Parse(time.RFC3339Nano, d.Annotations[annotationUpdate])
	d.Annotations = nil
	i.Target = d
	return i
}
