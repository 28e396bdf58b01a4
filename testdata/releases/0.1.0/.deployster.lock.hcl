# Written by "deployster init", which pins each image to the digest that its
# name had then, and by "deployster artifact pin". Keep it under version
# control. "deployster init -upgrade" moves the pins to what the names have now.

image "docker.io/demo/copy:latest" {
  digest = "sha256:e7cd4900e8900515ea537ccdbc0618985e59922965944874ae85191e2230cf53"
}

image "docker.io/demo/greeting:latest" {
  digest = "sha256:3aefd81ff6b0be64bf5c3c3f18bad0e56b2c99374cafc08a64c4e8ffdbdd1ba7"
}

image "docker.io/demo/note:latest" {
  digest = "sha256:d7e97981ab697d84504ffce3f01e4bd863ed237acd1202ccbf678d8567a4552f"
}

artifact "page" {
  version = {
    ref = "2cf24dba5fb0"
  }
}
