// The version of the project; CHANGELOG.md lists its changes.

#ifndef BRIGADE_MEMBUF_VERSION_H_
#define BRIGADE_MEMBUF_VERSION_H_

#define BRIGADE_VERSION "1.0.0"

#endif  // BRIGADE_MEMBUF_VERSION_H_
