// The senders and receivers of the As suite, measured or simulated: five short tests before a
// barrier, and the total exchange.
//
// Source: the LI paper, section 3.

#ifndef BRIGADE_BENCH_STUDIES_AS_RELATIONS_H_
#define BRIGADE_BENCH_STUDIES_AS_RELATIONS_H_

namespace brigade::bench {

struct AsRelation {
  const char* name;
  bool (*sends)(int from, int to, int ranks);
  bool computes;
  bool meets;  // ends with a barrier of MPI, too, where messages alone do not
};

inline bool ToNobody(int /*from*/, int /*to*/, int /*ranks*/) { return false; }
inline bool ToEverybody(int /*from*/, int /*to*/, int /*ranks*/) { return true; }
inline bool ToTheLast(int from, int to, int ranks) { return from == 0 && to == ranks - 1; }
inline bool FromTheFirst(int from, int to, int /*ranks*/) { return from == 0 && to != 0; }

constexpr AsRelation kAsTests[] = {
    {"test 1, empty", ToNobody, false, true},       {"test 2, computation", ToNobody, true, true},
    {"test 3, full", ToEverybody, false, true},     {"test 4, simple", ToTheLast, false, true},
    {"test 5, scatter", FromTheFirst, false, true},
};
constexpr AsRelation kTotalExchange = {"total exchange", ToEverybody, false, false};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_AS_RELATIONS_H_
