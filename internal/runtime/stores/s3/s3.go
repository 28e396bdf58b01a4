package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"deployster/internal/base/sharedlog"
)

// Options declare where the objects are.
type Options struct {
	Bucket, Prefix string
	Endpoint       string // host and port; "" = the endpoint of AWS
	Insecure       bool   // without TLS
	Region         string // "" = from AWS's variables or the profile, else the bucket's
	PathStyle      bool   // the bucket is in the URL's path, and not in its host name
	Profile        string // of ~/.aws; "" = that of AWS_PROFILE, after AWS's other variables
}

// Store holds the objects below a prefix of a bucket.
type Store struct {
	client         *minio.Client
	bucket, prefix string
}

// New returns a store, without connecting to it.
func New(o Options) (*Store, error) {
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	files := newProfile(o.Profile)
	creds := credentials.New(files) // a named profile is the only source
	if o.Profile == "" {
		creds = credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, files, &credentials.IAM{}})
	}
	region := cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), files.region())
	// The callers of this package repeat calls: only they know what a lost answer means. Without a region
	// the library may try once more, since a refusal may name the region.
	tries := 1
	if region == "" {
		tries = 2
	}
	client, err := minio.New(endpoint, &minio.Options{Creds: creds, Secure: !o.Insecure, Region: region, BucketLookup: lookup,
		MaxRetries: tries})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(o.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Store{client: client, bucket: o.Bucket, prefix: prefix}, nil
}

// Create puts an object on the condition that none exists.
func (s *Store) Create(ctx context.Context, key string, data []byte) error {
	o := minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
	o.SetMatchETagExcept("*")
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
	// 409 reports that another request for the same object was in progress. The result of
	// that request is unknown.
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
		return sharedlog.ErrExists
	}
	return refused(err)
}

// Get reads an object.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, missing(err)
	}
	defer func() { _ = object.Close() }() // it was only read
	data, err := io.ReadAll(object)
	if err != nil {
		return nil, missing(err)
	}
	return data, nil
}

// List reads all pages of a list. It is not a snapshot of one moment: the service
// promises only that it has the objects that were created before.
func (s *Store) List(ctx context.Context, prefix string) (keys []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for info := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, refused(info.Err)
		}
		keys = append(keys, strings.TrimPrefix(info.Key, s.prefix))
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	slices.Sort(keys)
	return keys, nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := missing(s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close closes idle connections.
func (s *Store) Close() error {
	s.client.CredContext().Client.CloseIdleConnections()
	return nil
}

// missing returns fs.ErrNotExist if an error reports that the object does not exist.
func missing(err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return fs.ErrNotExist
	}
	return refused(err)
}

// refused wraps an error in ErrDenied if trying again does not help.
func refused(err error) error {
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	if answer.Code == "RequestTimeout" || answer.Code == "IncompleteBody" {
		return err // the request did not arrive completely
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest, http.StatusNotImplemented,
		http.StatusMethodNotAllowed, http.StatusMovedPermanently:
		return fmt.Errorf("%w: %w (%s)", sharedlog.ErrDenied, err, answer.Code)
	}
	return err
}
