package imagestore

import "deployster/internal/runtime/runner"

// Shipment is an image that one store sends to another.
type Shipment = runner.Shipment

// Contents gives read access to the contents of images, by digest.
type Contents = runner.Contents
