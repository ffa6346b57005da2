/// @file
/// Brigade: version, status and error text. Any thread may call these functions. The returned texts
/// are static, except the text of brigade_error_text().

#ifndef BRIGADE_STATUS_H_
#define BRIGADE_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Marks a function that libbrigade.so exports.
#define BRIGADE_EXPORT __attribute__((visibility("default")))

#define BRIGADE_VERSION_MAJOR 1  ///< increases when programs for older versions no longer run
#define BRIGADE_VERSION_MINOR 0  ///< increases with additions to the interface
#define BRIGADE_VERSION_PATCH 0  ///< increases with corrections of errors
/// The version of these headers as one number: 10000 * major + 100 * minor + patch.
#define BRIGADE_VERSION_NUMBER \
  (10000 * BRIGADE_VERSION_MAJOR + 100 * BRIGADE_VERSION_MINOR + BRIGADE_VERSION_PATCH)

/// Returns the BRIGADE_VERSION_NUMBER of the library that the program runs with.
BRIGADE_EXPORT int brigade_version_number(void);
/// Returns the version of the library as text, for example "1.0.0".
BRIGADE_EXPORT const char* brigade_version(void);

/// The outcome of a call. Convention 2 of brigade.h says for each failure whether the group of the
/// call stays usable.
typedef enum {
  BRIGADE_OK = 0,  ///< success
  /// Staging memory (brigade_options::staging_bytes) is in use. Repeat the call. A
  /// refused call makes progress, too.
  BRIGADE_NO_RESOURCE = 1,
  BRIGADE_INVALID_ARGUMENT = 2,  ///< an argument is wrong
  BRIGADE_OUT_OF_MEMORY = 3,     ///< no memory is left, or a limit on memory is reached
  /// A call took longer than a time limit, such as brigade_call_options::timeout_seconds or
  /// brigade_options::overflow_wait_seconds.
  BRIGADE_TIMED_OUT = 4,
  BRIGADE_PEER_LOST = 5,    ///< the process of a rank ended, or the connection to it failed
  BRIGADE_MISMATCH = 6,     ///< the calls or arguments of the ranks do not match
  BRIGADE_UNAVAILABLE = 7,  ///< this build or machine lacks what the call needs
  BRIGADE_INTERNAL = 8,     ///< a bug in Brigade or in the transport
  /// A rank aborted the group, or destroyed the window (window.h) or multiplier (multiply.h) that
  /// the call uses.
  BRIGADE_ABORTED = 9
} brigade_status;

/// Returns the name of `status`, for example "no resource".
BRIGADE_EXPORT const char* brigade_status_name(brigade_status status);
/// Returns the text of this thread's last failure, in English. The text is valid until a later call
/// of this thread fails.
BRIGADE_EXPORT const char* brigade_error_text(void);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_STATUS_H_ */
