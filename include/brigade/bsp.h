/// @file
/// BSPlib for C99: programs of supersteps, with memory that other processes put to and get from,
/// and messages.
///
/// In libbrigade_bsp.so. A program consists of processes, each of which runs this, and of
/// supersteps. What is asked for in one is done at its end, at which all processes meet:
///
/// @code
///   bsp_begin(bsp_nprocs());
///   bsp_push_reg(a, bytes);         // each its own address, which is its name of the memory
///   bsp_sync();                     // a superstep ends, and the registration is in effect
///   bsp_put(pid, source, a, offset, n);
///   bsp_sync();                     // what was put is there
///   bsp_pop_reg(a);
///   bsp_end();
/// @endcode
///
/// Conventions:
///
/// 1. A superstep lasts from bsp_begin() or bsp_sync() to the next bsp_sync(). Each has the number
///    of those before it; errors tell it.
/// 2. Collective calls are made by all processes, in the same superstep and the same order among
///    each other. All others are local, and return without another process.
/// 3. At the end of a superstep things are done in this order. All that is got is read. What was
///    got is written, in the order of a process's calls. What was put is written, by process and in
///    the order of its calls. Registrations change. So the same program gives the same bytes, every
///    time.
/// 4. An error ends the program on all processes, and says on stderr which process made which call
///    in which superstep. Checked always: arguments, ranges, and that collective calls agree.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process calls.
///
/// Source: J. M. D. Hill et al., "BSPlib: The BSP programming library", Parallel Computing 24
/// (1998), and where it is silent, as said below. What goes beyond it: messages come by process, in
/// the order in which they were sent, where it promises no order.

#ifndef BRIGADE_BSP_H_
#define BRIGADE_BSP_H_

#ifdef __cplusplus
extern "C" {
#endif

/// @cond
/* Memory that is registered need hold nothing: compilers are told. */
#if defined(__has_attribute)
#if __has_attribute(access)
#define BRIGADE_BSP_ADDRESS(argument) __attribute__((access(none, argument)))
#endif
#endif
#ifndef BRIGADE_BSP_ADDRESS
#define BRIGADE_BSP_ADDRESS(argument)
#endif
/// @endcond

/// @name Types
/// The names by which BSPonMPI and MulticoreBSP declare processes, counts and lengths. They are
/// int, as in BSPonMPI and in the standard; MulticoreBSP's are unsigned.
/// @{

/// The number of a process.
typedef int bsp_pid_t;
/// A number of processes or messages.
typedef int bsp_nprocs_t;
/// A number of bytes.
typedef int bsp_size_t;

/// @}
/// @name Start and end
/// @{

/// Lets process 0 run alone until bsp_begin(). The first statement of main(), if it is called. On
/// all other processes it calls `start` and does not return. Collective.
///
/// @param start  a procedure whose first and last statements are bsp_begin() and bsp_end(); process
///               0 calls it later
/// @param argc, argv  main()'s; not looked at
void bsp_init(void (*start)(void), int argc, char** argv);
/// Begins the program. The first call but for bsp_init() and bsp_nprocs(); once. MPI is
/// initialised, unless that is done. Collective.
///
/// @param most_processes  at least 1, equal on all processes; behind bsp_init() process 0's counts.
///                        There are as many processes, or as many as mpirun has started if that is
///                        fewer. All others end here, with exit code 0.
void bsp_begin(int most_processes);
/// Ends the program; and MPI, if bsp_begin() has initialised it. Collective, on all processes in
/// the same superstep, and what was asked for in that is not done. Behind bsp_init(), all processes
/// but 0 end. Nothing but bsp_nprocs() and bsp_abort() may follow.
void bsp_end(void);
/// Ends the program, on all processes, and says why on stderr. Local; may be called at any time.
///
/// @param format  as printf()'s
void bsp_abort(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// How many processes there are; before bsp_begin(), how many there can be. Local.
int bsp_nprocs(void);
/// The calling one's number, from 0. Local.
int bsp_pid(void);
/// Seconds since bsp_begin() on this process, whose clock is its own. Local.
double bsp_time(void);

/// @}
/// @name Supersteps
/// @{

/// Ends the superstep: does all that was asked for in it, and begins the next. Collective. Cost: a
/// short message from each process to each other one; another for what does not fit; and one more
/// back for what was got.
void bsp_sync(void);

/// @}
/// @name Memory of other processes
/// @{

/// Registers memory, from the next superstep on: each process its own, for which its address stands
/// in calls of this process. Where that stands for several pieces of memory, the newest counts.
/// Collective. Cost: 16 bytes to each process.
///
/// @param address  the memory stays the caller's. NULL, with 0 bytes: none, and this process does
///                 not put to or get from the others' by this registration.
/// @param bytes    how many, 0 or more; may differ by process
void bsp_push_reg(const void* address, int bytes) BRIGADE_BSP_ADDRESS(1);
/// Ends a registration, the newest of this address, at the end of the superstep. It may be of this
/// superstep. Collective.
///
/// @param address  of the same registration on all processes. NULL: of one that is NULL on this
///                 process; on all processes, the newest that is.
void bsp_pop_reg(const void* address) BRIGADE_BSP_ADDRESS(1);
/// Puts bytes into the memory of a process, at the end of the superstep. They are copied now.
/// Local.
///
/// @param pid      whose; may be the caller
/// @param source   of the bytes
/// @param address  the calling process's address of the registered memory
/// @param offset   where they go, in the memory of `pid`
/// @param bytes    how many; they lie in what `pid` has registered. 0: nothing else is looked at.
void bsp_put(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// bsp_put() without copies: source and destination must not be changed, nor the destination read,
/// by anybody until the superstep has ended. Up to BRIGADE_CHUNK_BYTES it is bsp_put().
void bsp_hpput(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Gets bytes from the memory of a process, as they are at the end of the superstep before anything
/// is written. Local.
///
/// @param pid      whose; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   where they are, in the memory of `pid`
/// @param result   where they go, at the end of the superstep
/// @param bytes    how many; they lie in what `pid` has registered. 0: nothing else is looked at.
void bsp_get(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);
/// bsp_get() without copies: source and destination must not be changed, nor the destination read,
/// by anybody until the superstep has ended. Up to BRIGADE_CHUNK_BYTES it is bsp_get().
void bsp_hpget(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);

/// @}
/// @name Messages
/// A message is a tag, of the same length for all, and a payload. What is sent in a superstep can
/// be received in the next one, and no longer. They come by process, and in the order in which a
/// process has sent them.
/// @{

/// Says how long tags are, of what is sent from the next superstep on; 0 until then. Collective.
///
/// @param bytes  how many, equal on all processes; then, what the last call said
void bsp_set_tagsize(int* bytes);
/// Sends a message. Both parts are copied now. Local.
///
/// @param pid      who gets it; may be the caller
/// @param tag      NULL only if tags have no bytes
/// @param payload  NULL only if it has no bytes
/// @param bytes    of the payload, 0 or more
void bsp_send(int pid, const void* tag, const void* payload, int bytes);
/// How many messages are left, and the bytes of their payloads. Error: either is above INT_MAX;
/// then bsp_get_tag() says when all are taken. Local. Cost: a look at each.
void bsp_qsize(int* messages, int* bytes);
/// Looks at the first message. Local.
///
/// @param status  the bytes of its payload; -1 if there is none
/// @param tag     gets its tag, as long as tags were when it was sent; left alone if there is none.
///                NULL only if that is no bytes.
void bsp_get_tag(int* status, void* tag);
/// Takes the first message. Error: there is none. Local.
///
/// @param payload  gets its payload. NULL only if it gets no bytes.
/// @param bytes    how many at most; the rest is dropped
void bsp_move(void* payload, int bytes);
/// Takes the first message, without a copy. Local.
///
/// @param tag, payload  where they are until the superstep ends, each where any type may begin.
///                      Left alone if there is no message.
/// @return the bytes of its payload; -1 if there is no message
int bsp_hpmove(void** tag, void** payload);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BSP_H_ */
